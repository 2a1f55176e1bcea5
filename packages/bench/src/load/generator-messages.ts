import type { Percentiles } from '../measure/histogram.js';
import type { EventPlan } from './make-events.js';

/** Where events go in. */
export type DoorPlan =
  /** Straight to the topic by kafkajs, acks=all, `batch` records in one request at most. */
  | { readonly kind: 'topic'; readonly brokers: readonly string[] }
  /** `POST /integration/v1/events`: one event, or NDJSON of `batch` events, over keep-alive connections. */
  | {
      readonly kind: 'ingest';
      readonly url: string;
      readonly token: string;
      readonly connections: number;
    }
  /** To the endpoints themselves, as a worker would, with nothing in between; round robin. */
  | {
      readonly kind: 'endpoints';
      readonly urls: readonly string[];
      readonly caFile: string;
      readonly connections: number;
    };

/** How fast. */
export type Pace =
  /** Open loop: each event at its scheduled time, whether or not the ones before it are done. */
  | { readonly kind: 'scheduled'; readonly perSecond: number }
  /** Closed loop: so many requests are always under way. */
  | { readonly kind: 'flood'; readonly underWay: number };

export interface LoadPlan {
  readonly events: EventPlan;
  readonly door: DoorPlan;
  readonly pace: Pace;
  /** Events of one request at most. */
  readonly batch: number;
  /** Where the generator writes what was acknowledged. */
  readonly file: string;
}

export interface LoadReport {
  readonly accepted: number;
  /** First event sent, and last acknowledgement; monotonic microseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** CPU of the generator in between, in microseconds. */
  readonly cpuMicros: number;
  /** How much later than scheduled events were sent, in microseconds; absent for a flood. */
  readonly lateness?: Percentiles;
}

export type GeneratorReport =
  | { readonly kind: 'ready' }
  /** The first event was sent, and now the last one was acknowledged. */
  | { readonly kind: 'sent'; readonly report: LoadReport }
  /** The file of acceptances is complete. */
  | { readonly kind: 'written' }
  | { readonly kind: 'failed'; readonly why: string };
