import { backlog } from './backlog.js';
import { ingest } from './ingest.js';
import { isolation } from './isolation.js';
import { latency } from './latency.js';
import { memory } from './memory.js';
import { overload } from './overload.js';
import { query } from './query.js';
import { recovery } from './recovery.js';
import { reference } from './reference.js';
import { scaleConfigurations } from './scale-configurations.js';
import type { Scenario } from './scenario.js';
import { throughput } from './throughput.js';
import { waiting } from './waiting.js';
import { wholeSystem } from './whole-system.js';

/** All scenarios, the most telling first; `throughput` gives the later ones their load. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  reference,
  throughput,
  latency,
  'whole-system': wholeSystem,
  isolation,
  recovery,
  backlog,
  ingest,
  query,
  overload,
  waiting,
  'scale-configurations': scaleConfigurations,
  memory,
};
