import { misname } from '../world/misname.js';

/** Its name leads to a private address: nobody may connect there (F35). */
const dnsTurnsPrivate = misname({ name: 'dns-turns-private' }, { rcode: 'ok', addresses: ['10.11.12.13'] });

export default dnsTurnsPrivate;
