import { spoilLinks } from '../wire/spoil-links.js';

/** Everything takes 300 ms longer, each way. */
const delayNetwork = spoilLinks(
  { name: 'delay-network', lasts: [2_000, 60_000] },
  { kind: 'delayed', delayMs: 300 },
);

export default delayNetwork;
