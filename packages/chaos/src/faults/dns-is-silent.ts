import { misname } from '../world/misname.js';

/** Its name server says nothing at all (F35). */
const dnsIsSilent = misname({ name: 'dns-is-silent' }, 'silence');

export default dnsIsSilent;
