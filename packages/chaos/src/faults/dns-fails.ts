import { misname } from '../world/misname.js';

/** Its name server fails: SERVFAIL (F35). */
const dnsFails = misname({ name: 'dns-fails' }, { rcode: 'servfail' });

export default dnsFails;
