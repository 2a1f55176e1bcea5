import { spoilLinks } from '../wire/spoil-links.js';

/** Connections stay and nothing comes through: who waits for an answer has only its own deadline. */
const halfOpenNetwork = spoilLinks(
  { name: 'half-open-network', lasts: [1_000, 60_000] },
  { kind: 'half-open' },
);

export default halfOpenNetwork;
