import { misname } from '../world/misname.js';

/** There is the name, and no address (F35). */
const dnsIsEmpty = misname({ name: 'dns-is-empty' }, { rcode: 'ok' });

export default dnsIsEmpty;
