import { readTraceparent, type RecordOrigin } from '../task/delivery-task.js';
import { MAX_ATTEMPT, MAX_PARTITION, MAX_TIME_MS, PATTERNS, isTenantId } from '../json/schema-compiler.js';
import { isNotificationKind, type NotificationKind } from '../event/payment-event.js';
import { isObject } from '../json/strict-json.js';

interface LogEntry {
  readonly deliveryId: string;
  readonly cycle: string;
  readonly eventId: string;
  readonly eventType: NotificationKind;
  readonly tenantId: string;
  readonly ref: string;
  readonly revision: number;
  /** Number of the attempt, from 1. The attempt was made, or was the next one. */
  readonly attempt: number;
  /** Unix milliseconds: start of the attempt, or time at which it was deferred or cancelled. */
  readonly at: number;
  /** Position of the task's record. It distinguishes a repeat after a crash from another attempt. */
  readonly source: RecordOrigin;
  /** When the event was appended, Unix milliseconds. Absent in entries of earlier versions, and when there is no event. */
  readonly acceptedAt?: number;
  /** Amount of the event in cents; absent when its body has none. */
  readonly cents?: number;
}

/** An attempt was made. */
export interface AttemptEntry extends LogEntry {
  readonly kind: 'attempt';
  readonly durationMs: number;
  readonly result: 'delivered' | 'failed';
  readonly status?: number;
  /** Class of a failure without a response, such as `TLS`. */
  readonly error?: string;
  /** The exact failure, such as `CERT_HAS_EXPIRED`; `causeOf` returns the cause and a remedy. */
  readonly code?: string;
  /** When the next attempt is due (Unix milliseconds); absent after the last attempt. */
  readonly nextAt?: number;
  /** The trace context of the attempt; absent unless its span is sampled. */
  readonly traceparent?: string;
}
/** The delivery was deferred without an attempt. */
export interface DeferredEntry extends LogEntry {
  readonly kind: 'deferred';
  readonly nextAt: number;
  /** `fault`: deferred because of a fault of the worker; absent: because of the state of the endpoint. */
  readonly reason?: string;
}
/** The delivery was cancelled. */
export interface CancelledEntry extends LogEntry {
  readonly kind: 'cancelled';
  readonly reason: string;
}
/** The delivery is dead: it gets no further attempt. */
export interface DeadEntry extends LogEntry {
  readonly kind: 'dead';
  readonly reason: string;
}
export type AttemptLogEntry = AttemptEntry | DeferredEntry | CancelledEntry | DeadEntry;

/** The state of an event on `webhooks.fan-outs`. `isOpen`: some of its deliveries are still to be made. */
export interface FanOutEntry extends Pick<LogEntry, 'tenantId' | 'eventId' | 'at'> {
  readonly kind: 'fan-out';
  readonly isOpen: boolean;
}
export type PackEntry = AttemptLogEntry | FanOutEntry;

/** The value of one record of `webhooks.attempts`: several entries, in any order. */
export interface AttemptPack<E extends PackEntry = AttemptLogEntry> {
  readonly v: 1;
  readonly records: readonly E[];
}

/** Most entries of one pack. */
export const MAX_PACK_ENTRIES = 256;

/** Encodes entries as the value of one record. */
export const encodeAttemptPack = (records: readonly PackEntry[]): Buffer =>
  Buffer.from(JSON.stringify({ v: 1, records } satisfies AttemptPack<PackEntry>));

type Test = (value: unknown) => boolean;

const matches =
  (pattern: RegExp): Test =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const isWhole =
  (min: number, max: number): Test =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
const orAbsent =
  (test: Test): Test =>
  (value) =>
    value === undefined || test(value);

const isWord = matches(/^[\x21-\x7e]{1,256}$/);
/** A code of Node, of OpenSSL (`SSL/TLS_ALERT_CLOSE_NOTIFY`) or of the worker (`TLS_FLOOD`). */
const isCode = matches(/^[A-Z0-9_/]{1,64}$/);
const isTime = isWhole(0, MAX_TIME_MS);

function isOrigin(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { topic, partition, offset } = value;
  return isWord(topic) && isWhole(0, MAX_PARTITION)(partition) && matches(/^\d{1,20}$/)(offset);
}

const SHARED = {
  deliveryId: isWord,
  cycle: matches(new RegExp(PATTERNS.cycle, 'u')),
  eventId: matches(new RegExp(PATTERNS.eventId, 'u')),
  eventType: isNotificationKind,
  tenantId: isTenantId,
  ref: isWord,
  revision: isWhole(0, Number.MAX_SAFE_INTEGER),
  attempt: isWhole(1, MAX_ATTEMPT),
  at: isTime,
  source: isOrigin,
  acceptedAt: orAbsent(isTime),
  cents: orAbsent(isWhole(0, Number.MAX_SAFE_INTEGER)),
} satisfies Readonly<Record<string, Test>>;

const { tenantId, eventId, at } = SHARED;
const OF_KIND: Readonly<Record<PackEntry['kind'], Readonly<Record<string, Test>>>> = {
  attempt: {
    ...SHARED,
    durationMs: (value) => typeof value === 'number' && value >= 0 && value <= MAX_TIME_MS,
    result: (value) => value === 'delivered' || value === 'failed',
    status: orAbsent(isWhole(100, 999)),
    error: orAbsent(isWord),
    code: orAbsent(isCode),
    nextAt: orAbsent(isTime),
  },
  deferred: { ...SHARED, nextAt: isTime, reason: orAbsent(isWord) },
  cancelled: { ...SHARED, reason: isWord },
  dead: { ...SHARED, reason: isWord },
  'fan-out': { tenantId, eventId, at, isOpen: (value) => typeof value === 'boolean' },
};

const testsOf = new Map<unknown, readonly (readonly [string, Test])[]>(
  Object.entries(OF_KIND).map(([kind, tests]) => [kind, Object.entries(tests)]),
);

/** Leaves a trace context out that is anything else: it must not cost the attempt. */
function contextOf(sent: unknown): { readonly traceparent?: string } {
  const traceparent = typeof sent === 'string' ? readTraceparent(sent) : undefined;
  return traceparent === undefined ? {} : { traceparent };
}

/** Reads the known members of an entry. Returns `damaged` when one of them is not valid. */
function readEntry(value: unknown): PackEntry | 'damaged' | 'unknown-kind' {
  if (!isObject(value)) return 'damaged';
  const tests = testsOf.get(value['kind']);
  if (!tests) return typeof value['kind'] === 'string' ? 'unknown-kind' : 'damaged';
  const entry: Record<string, unknown> = { kind: value['kind'] };
  for (const [name, test] of tests) {
    const member = value[name];
    if (!test(member)) return 'damaged';
    if (member !== undefined) entry[name] = member;
  }
  return { ...entry, ...contextOf(value['traceparent']) } as unknown as PackEntry;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}

const unreadable = (reason: 'not-json' | 'not-a-pack' | 'unknown-version') =>
  ({ ok: false, reason }) as const;

/**
 * Reads a pack of this format or the next one. Unknown members, unknown kinds and damaged entries are left out. `damaged`
 * counts the damaged entries only. Never throws.
 */
export function parseAttemptPack(bytes: Uint8Array) {
  const value = parseJson(bytes);
  if (value === undefined) return unreadable('not-json');
  if (!isObject(value) || !Array.isArray(value['records'])) return unreadable('not-a-pack');
  if (value['v'] !== 1 && value['v'] !== 2) return unreadable('unknown-version');
  const entries = value['records'].map(readEntry);
  const known = entries.filter((entry) => typeof entry === 'object');
  const records = known.filter((entry) => entry.kind !== 'fan-out');
  const fanOuts = known.filter((entry) => entry.kind === 'fan-out');
  const damaged = entries.filter((entry) => entry === 'damaged').length;
  return { ok: true, records, fanOuts, damaged } as const;
}
