import type { DoorPlan, LoadReport, Pace } from '../load/generator-messages.js';
import type { EventPlan } from '../load/make-events.js';
import type { RunLedger, Totals } from '../measure/run-ledger.js';
import type { SpanUsage } from '../measure/usage-span.js';
import type { BenchEndpoint } from './world.js';

/** One load on one world. */
export interface RunPlan {
  readonly events: EventPlan;
  readonly door: DoorPlan;
  readonly pace: Pace;
  /** Events of one request at most, default 1. */
  readonly batch?: number;
  /** Endpoints that are owed the events. */
  readonly endpoints: readonly BenchEndpoint[];
  /** Nothing new for so long means that nothing more will come, default 60,000. */
  readonly quietMs?: number;
  /** What is to happen once the load has begun; the run goes on until this has ended, too. */
  readonly meanwhile?: () => Promise<void>;
  /** What is to happen once everything was acknowledged. */
  readonly afterwards?: () => Promise<void>;
  /** What is to happen once everything was delivered; what processes use until this has ended is counted. */
  readonly whenDelivered?: () => Promise<void>;
  /** Endpoints that are down at the end: what they did not get has to lie in Kafka, waiting. Default: none. */
  readonly mayWait?: (path: string) => boolean;
}

/** What a run whose ledger balances has shown. */
export interface RunResult {
  readonly load: LoadReport;
  readonly ledger: RunLedger;
  readonly totals: Totals;
  /** Pairs that wait in Kafka. */
  readonly waiting: number;
  /** From the first event sent to the first byte of the last delivery. */
  readonly seconds: number;
  /** From the first event sent until all was delivered (and `whenDelivered`), by process: system, receiver, generator. */
  readonly usage: readonly SpanUsage[];
  /** Share of the machine's CPU that anyone else took meanwhile, the bench itself included, in percent. */
  readonly othersPercent: number;
}
