import { misname } from '../world/misname.js';

/** Its name is gone: NXDOMAIN (F35). */
const dnsNoName = misname({ name: 'dns-no-name' }, { rcode: 'nxdomain' });

export default dnsNoName;
