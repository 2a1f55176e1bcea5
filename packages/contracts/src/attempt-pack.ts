import type { RecordOrigin } from './delivery-task.js';
import type { EventType } from './payment-event.js';

interface LogEntry {
  readonly deliveryId: string;
  readonly cycle: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly tenantId: string;
  readonly ref: string;
  readonly revision: number;
  /** Number of the attempt that was made, or was to be made. */
  readonly attempt: number;
  /** Unix milliseconds: start of the attempt, or the moment of the decision. */
  readonly at: number;
  /** The record that was being handled: tells a repeat after a crash from an attempt of its own. */
  readonly source: RecordOrigin;
}

export interface AttemptEntry extends LogEntry {
  readonly kind: 'attempt';
  readonly durationMs: number;
  readonly result: 'delivered' | 'failed';
  readonly status?: number;
  /** Class of a failure without an answer, such as `TLS`. */
  readonly error?: string;
  /** Unix milliseconds of the next attempt, when there will be one. */
  readonly nextAt?: number;
}
export interface ParkedEntry extends LogEntry {
  readonly kind: 'parked';
  readonly nextAt: number;
}
export interface CancelledEntry extends LogEntry {
  readonly kind: 'cancelled';
  readonly reason: string;
}
export interface DeadEntry extends LogEntry {
  readonly kind: 'dead';
  readonly reason: string;
}
export type AttemptLogEntry = AttemptEntry | ParkedEntry | CancelledEntry | DeadEntry;

/** One record of `webhooks.attempts`: several entries, in no particular order (contract §6). */
export interface AttemptPack {
  readonly v: 1;
  readonly records: readonly AttemptLogEntry[];
}

export const MAX_PACK_ENTRIES = 256;

export const encodeAttemptPack = (records: readonly AttemptLogEntry[]): Buffer =>
  Buffer.from(JSON.stringify({ v: 1, records } satisfies AttemptPack));
