import type { StatementWebhook } from '@webhooks/client';
import type { AttemptLogEntry, HistoryEntry } from '@webhooks/contracts';
import type { Change } from '../generator/changes.js';
import type { Journal } from '../generator/generator.js';
import type { DoneStep } from '../plan.js';
import type { Configuration } from '../world/configurations.js';

/** The position of a record. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** The broker's append time, Unix milliseconds. */
  readonly appendedAt: number;
}

/** One arrival at a receiver. */
export interface Arrived {
  readonly id: string;
  readonly path: string;
  /** Status of the response; 0 for a broken one, which may still have contained a status. */
  readonly status: number;
  /** Unix milliseconds, with fraction. */
  readonly receivedAt: number;
  readonly attempt: number;
  /** `webhook-timestamp`: the worker's clock at the start of the attempt, Unix seconds. */
  readonly startedAtSeconds: number;
  /** SHA-256 of the body, in hex. */
  readonly digest: string;
  /** Only at paths of configurations whose secret is rotated. */
  readonly signed?: { readonly signature: string; readonly body: string };
}

/** A task in `webhooks.deliveries` or in a retry tier. */
export interface TaskSeen {
  readonly place: Place;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly dueAt: number;
  readonly history: readonly HistoryEntry[];
}

export interface EntrySeen {
  readonly place: Place;
  readonly entry: AttemptLogEntry;
}

export interface DeadSeen extends Omit<TaskSeen, 'dueAt' | 'history'> {
  readonly reason: string;
}

/** The records in Kafka after the run, when no worker runs. */
export interface TopicEvidence {
  /** Event id → the positions of its records on `payments.events`. */
  readonly copies: ReadonlyMap<string, readonly Place[]>;
  readonly tasks: readonly TaskSeen[];
  readonly entries: readonly EntrySeen[];
  readonly dead: readonly DeadSeen[];
  /** Records of `payments.events.rejected`. */
  readonly rejected: readonly Place[];
  /** Records of the service's topics that could not be parsed. */
  readonly unreadable: readonly Place[];
  /** Partition (`topic/partition`) → the first offset that the workers have not handled. A fully handled partition has no entry. */
  readonly handledUpTo: ReadonlyMap<string, number>;
}

export type LoggedStatus = 'pending' | 'delivered' | 'dead' | 'cancelled';

/** query-api's response to a request for one transaction. */
export interface SeenTransaction {
  readonly endToEndId: string;
  /** Undefined when query-api had no such transaction. */
  readonly amount: string | undefined;
}

/** What the statement of a day says about a webhook. */
export type SeenStatement = Pick<
  StatementWebhook,
  'ref' | 'events' | 'delivered' | 'dead' | 'cancelled' | 'waiting'
>;

/** The whole input of the checker, which reads no clock, no file and no network. */
export interface Evidence {
  readonly configurations: readonly Configuration[];
  readonly sent: Readonly<Journal>;
  readonly arrivals: readonly Arrived[];
  readonly changes: readonly Change[];
  readonly steps: readonly DoneStep[];
  /** Delivery id → how often it was sent again by an accepted request; default: nothing was. */
  readonly redelivered?: ReadonlyMap<string, number>;
  readonly topics: TopicEvidence;
  /** Delivery id → status, of all tenants. */
  readonly log: ReadonlyMap<string, LoggedStatus>;
  readonly transactions: readonly SeenTransaction[];
  /** Of the run's days. */
  readonly statements: readonly SeenStatement[];
  /** The configurations of all tenants as config-api lists them. `path` is the URL's. */
  readonly listed: readonly { readonly ref: string; readonly enabled: boolean; readonly path: string }[];
  /** Waits before attempts 2, 3, … in milliseconds, and the jitter as a share of them. */
  readonly schedule: { readonly delaysMs: readonly number[]; readonly jitter: number };
}

export const isHandled = ({ handledUpTo }: TopicEvidence, { topic, partition, offset }: Place): boolean =>
  offset < (handledUpTo.get(`${topic}/${partition}`) ?? Infinity);
