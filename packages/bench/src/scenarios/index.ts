import type { Scenario } from '../scenario.js';
import { backlog } from './backlog.js';
import { isolation } from './isolation.js';
import { latency } from './latency.js';
import { query } from './query.js';
import { recovery } from './recovery.js';
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
  recovery,
  backlog,
  query,
};
