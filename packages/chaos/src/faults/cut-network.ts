import { spoilLinks } from '../wire/spoil-links.js';

/** Connections are reset and refused. */
const cutNetwork = spoilLinks({ name: 'cut-network', lasts: [500, 60_000] }, { kind: 'cut' });

export default cutNetwork;
