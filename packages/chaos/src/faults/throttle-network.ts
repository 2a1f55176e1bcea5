import { spoilLinks } from '../wire/spoil-links.js';

/** 64 KiB a second for each direction of each connection. */
const throttleNetwork = spoilLinks(
  { name: 'throttle-network', lasts: [2_000, 60_000] },
  { kind: 'throttled', bytesPerSecond: 65_536 },
);

export default throttleNetwork;
