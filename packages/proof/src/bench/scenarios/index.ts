import type { Scenario } from '../scenario.js';
import { attacks } from './attacks.js';
import { handlers } from './handlers.js';
import { isolation } from './isolation.js';
import { latency } from './latency.js';
import { query } from './query.js';
import { reference } from './reference.js';
import { throughput } from './throughput.js';
import { wholeSystem } from './whole-system.js';

/** All scenarios, the most telling first. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  reference,
  throughput,
  latency,
  'whole-system': wholeSystem,
  isolation,
  attacks,
  query,
  handlers,
};
