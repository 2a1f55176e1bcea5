import { readAttemptHistory, type AttemptHistory } from '../log/attempt-history.js';
import { MAX_ATTEMPT, MAX_PARTITION, MAX_TIME_MS, PATTERNS } from '../json/schema-compiler.js';
import { isNotificationKind, type NotificationKind } from '../event/payment-event.js';
import { MAX_EVENT_BYTES } from '../event/read-event.js';

/** Record headers as a client library returns them: one value, several values of one name, or none. */
export type RecordHeaders = Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>>;

/** Returns the text of a header, or undefined. The last of several values wins, as in the decoder of records. */
export function headerText(headers: RecordHeaders, name: string): string | undefined {
  const raw = headers[name];
  const last = Array.isArray(raw) ? raw.at(-1) : raw;
  return typeof last === 'string' ? last : last?.toString('utf8');
}

/** Returns the number in a header. Undefined when the header is absent or is no integer from 0 to `max`. */
export function headerNumber(
  headers: RecordHeaders,
  name: string,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const text = headerText(headers, name);
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= max ? value : undefined;
}

/** The record from which an event was first read. */
export interface RecordOrigin {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
}

/** The fields that all deliveries of one event share. */
interface EventParts {
  readonly eventId: string;
  readonly eventType: NotificationKind;
  readonly tenantId: string;
  /** When the next attempt is due, Unix milliseconds. */
  readonly dueAt: number;
  /** When the first attempt was due, Unix milliseconds. */
  readonly firstDueAt: number;
  readonly origin: RecordOrigin;
  /** When the event was appended, Unix milliseconds. Absent in records of earlier versions, and when there is no event. */
  readonly acceptedAt?: number | undefined;
  /** The trace context of the event's span, or its producer's; valid by `readTraceparent`. */
  readonly traceparent?: string | undefined;
  /** The exact bytes to send. */
  readonly body: Buffer;
}

/** One event whose deliveries are made in slices: a record of `webhooks.fan-outs`. */
export interface FanOut extends EventParts {
  /** Deliveries exist for the webhooks up to this `ref`; absent before the first slice. */
  readonly afterRef?: string;
}

/** One delivery with an attempt to be made, now or later: a record of `webhooks.deliveries` or `webhooks.retries.*`. */
export interface DeliveryTask extends EventParts {
  readonly deliveryId: string;
  /** `0`, or `r` and the id of a redelivery. */
  readonly cycle: string;
  readonly ref: string;
  /** Application of the configuration when the delivery was made. A changed application cancels the delivery. */
  readonly applicationId?: string | undefined;
  /** Revision of the configuration that made this delivery. */
  readonly revision: number;
  /** Number of the next attempt, from 1. */
  readonly attempt: number;
  /** When the first attempt started, Unix milliseconds; absent before it. */
  readonly firstAttemptAt?: number | undefined;
  /** How often the delivery was deferred without an attempt. */
  readonly deferralCount: number;
  /** Class of the last failure, such as `TLS`; `STATUS` after a response. */
  readonly errorCode?: string | undefined;
  readonly httpStatus?: number | undefined;
  /** The trace context of the attempt before, when its span was sampled. */
  readonly previousTraceparent?: string | undefined;
  /** The failed attempts (`parseAttemptHistory` reads them); absent before the first. */
  readonly history?: AttemptHistory | undefined;
}

/** Whether the task was retried or deferred before. If so, its record was read from a retry tier. */
export const isReturned = ({ attempt, deferralCount }: DeliveryTask): boolean =>
  attempt > 1 || deferralCount > 0;

/** Header of a task's record: when the task is due, Unix milliseconds. */
export const DUE_AT = 'due-at';

const AFTER_REF = 'after-ref';

const FORMAT = '1';

const ACCEPTED_AT = 'accepted-at';

const PREVIOUS_TRACEPARENT = 'previous-traceparent';

const eventHeaders = ({ origin, acceptedAt, traceparent, ...parts }: EventParts): Record<string, string> => ({
  'task-version': FORMAT,
  'event-id': parts.eventId,
  'event-type': parts.eventType,
  'tenant-id': parts.tenantId,
  [DUE_AT]: String(parts.dueAt),
  'first-due-at': String(parts.firstDueAt),
  'origin-topic': origin.topic,
  'origin-partition': String(origin.partition),
  'origin-offset': origin.offset,
  ...(acceptedAt === undefined ? {} : { [ACCEPTED_AT]: String(acceptedAt) }),
  ...(traceparent === undefined ? {} : { traceparent }),
});

/** Returns the headers of a fan-out's record. The value of the record is the body. */
export const fanOutHeaders = (fanOut: FanOut): Record<string, string> => ({
  ...eventHeaders(fanOut),
  ...(fanOut.afterRef === undefined ? {} : { [AFTER_REF]: fanOut.afterRef }),
});

/** Returns the headers of a task's record. The value of the record is the body. */
export function taskHeaders(task: DeliveryTask): Record<string, string> {
  const headers: Record<string, string> = {
    ...eventHeaders(task),
    'delivery-id': task.deliveryId,
    cycle: task.cycle,
    'configuration-ref': task.ref,
    'configuration-revision': String(task.revision),
    attempt: String(task.attempt),
    'deferral-count': String(task.deferralCount),
  };
  if (task.applicationId !== undefined) headers['application-id'] = task.applicationId;
  if (task.firstAttemptAt !== undefined) headers['first-attempt-at'] = String(task.firstAttemptAt);
  if (task.errorCode !== undefined) headers['error-code'] = task.errorCode;
  if (task.httpStatus !== undefined) headers['http-status'] = String(task.httpStatus);
  if (task.previousTraceparent !== undefined) headers[PREVIOUS_TRACEPARENT] = task.previousTraceparent;
  if (task.history !== undefined) headers['history'] = task.history;
  return headers;
}

/** Reads the header `DUE_AT` of a task's record; undefined when it is damaged. */
export const dueAtOf = (headers: RecordHeaders): number | undefined => headerNumber(headers, DUE_AT);

class DamagedHeader extends Error {}
/** A header with a word that a newer version may know. */
class UnknownHeader extends DamagedHeader {}

const faultOf = (name: string, text: string | undefined): DamagedHeader =>
  /^[A-Z0-9_]{1,64}$/.test(text ?? '') ? new UnknownHeader(name) : new DamagedHeader(name);

function requireText(headers: RecordHeaders, name: string, pattern: RegExp): string {
  const text = headerText(headers, name);
  if (text === undefined || !pattern.test(text)) throw new DamagedHeader(name);
  return text;
}

/**
 * Longest optional text of a task, in UTF-16 units. An application has at most 128 code points, and a class of failure
 * has fewer. So a task with a body of `MAX_EVENT_BYTES` always fits its topics (4 MiB).
 */
const MAX_TEXT_CHARACTERS = 256;

function optionalText(headers: RecordHeaders, name: string): string | undefined {
  const text = headerText(headers, name);
  if (text !== undefined && text.length > MAX_TEXT_CHARACTERS) throw new DamagedHeader(name);
  return text;
}

function requireNumber(headers: RecordHeaders, name: string, max?: number): number {
  const value = headerNumber(headers, name, max);
  if (value === undefined) throw new DamagedHeader(name);
  return value;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns a text if it is a `traceparent` of W3C Trace Context (§3.2), else undefined. It may be forwarded to endpoints:
 * any other text could break the request or disclose internal data.
 */
export const readTraceparent = (text: string | undefined): string | undefined =>
  text !== undefined && TRACEPARENT.test(text) ? text : undefined;

/** Returns the trace id of a `traceparent`, as log lines have it. */
export const traceIdOf = (traceparent: string | undefined): string | undefined => traceparent?.slice(3, 35);

const WORD = /^[\x21-\x7e]{1,256}$/;
// The patterns of words in the attempt log. A value that only the log refuses would be delivered and never logged.
const CYCLE = new RegExp(PATTERNS.cycle, 'u');
const EVENT_ID = new RegExp(PATTERNS.eventId, 'u');
const TENANT_ID = new RegExp(PATTERNS.tenantId, 'u');

function readEventParts(headers: RecordHeaders, body: Buffer): EventParts {
  const eventType = headerText(headers, 'event-type');
  const version = headerText(headers, 'task-version') ?? FORMAT;
  if (version !== FORMAT) throw faultOf('task-version', version);
  if (!isNotificationKind(eventType)) throw faultOf('event-type', eventType);
  return {
    eventId: requireText(headers, 'event-id', EVENT_ID),
    eventType,
    tenantId: requireText(headers, 'tenant-id', TENANT_ID),
    dueAt: requireNumber(headers, DUE_AT, MAX_TIME_MS),
    firstDueAt: requireNumber(headers, 'first-due-at', MAX_TIME_MS),
    origin: {
      topic: requireText(headers, 'origin-topic', WORD),
      partition: requireNumber(headers, 'origin-partition', MAX_PARTITION),
      offset: String(requireNumber(headers, 'origin-offset')),
    },
    acceptedAt: headerNumber(headers, ACCEPTED_AT, MAX_TIME_MS),
    traceparent: readTraceparent(headerText(headers, 'traceparent')),
    body,
  };
}

function readFanOut(headers: RecordHeaders, body: Buffer): FanOut {
  const parts = readEventParts(headers, body);
  if (headers[AFTER_REF] === undefined) return parts;
  return { ...parts, afterRef: requireText(headers, AFTER_REF, WORD) };
}

function readTask(headers: RecordHeaders, body: Buffer): DeliveryTask {
  const parts = readEventParts(headers, body);
  const attempt = requireNumber(headers, 'attempt', MAX_ATTEMPT);
  if (attempt < 1) throw new DamagedHeader('attempt');
  return {
    ...parts,
    deliveryId: requireText(headers, 'delivery-id', WORD),
    cycle: requireText(headers, 'cycle', CYCLE),
    ref: requireText(headers, 'configuration-ref', WORD),
    revision: requireNumber(headers, 'configuration-revision'),
    attempt,
    deferralCount: headerNumber(headers, 'deferral-count') ?? 0,
    applicationId: optionalText(headers, 'application-id'),
    firstAttemptAt: headerNumber(headers, 'first-attempt-at', MAX_TIME_MS),
    errorCode: optionalText(headers, 'error-code'),
    httpStatus: headerNumber(headers, 'http-status'),
    previousTraceparent: readTraceparent(headerText(headers, PREVIOUS_TRACEPARENT)),
    history: readAttemptHistory(headerText(headers, 'history')),
  };
}

type Unreadable = { readonly ok: false; readonly reason: string; readonly isUnknown?: boolean };

function readWith<T>(
  read: (headers: RecordHeaders, body: Buffer) => T,
  headers: RecordHeaders,
  value: Buffer | null,
): { readonly ok: true; readonly task: T } | Unreadable {
  if (value === null) return { ok: false, reason: 'null-value' };
  if (value.byteLength > MAX_EVENT_BYTES) return { ok: false, reason: 'too-large' };
  try {
    return { ok: true, task: read(headers, value) };
  } catch (error) {
    if (error instanceof UnknownHeader)
      return { ok: false, reason: `unknown-${error.message}`, isUnknown: true };
    if (error instanceof DamagedHeader) return { ok: false, reason: `damaged-header:${error.message}` };
    throw error;
  }
}

/**
 * Reads a task from its record. Never throws: `reason` names a damaged header. `isUnknown`: the value of the header may be
 * known to a newer version. A body of more than `MAX_EVENT_BYTES` is refused.
 */
export const parseDeliveryTask = (headers: RecordHeaders, value: Buffer | null) =>
  readWith(readTask, headers, value);

/** Reads a fan-out from its record, as `parseDeliveryTask` does for a task. */
export const parseFanOut = (headers: RecordHeaders, value: Buffer | null) =>
  readWith(readFanOut, headers, value);
