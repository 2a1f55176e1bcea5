import {
  MAX_TIME_MS,
  PATTERNS,
  TOPICS,
  deliveryIdOf,
  headerNumber,
  headerText,
  isTenantId,
  parseAttemptPack,
  parseDeliveryTask,
} from '@webhooks/contracts';
import type { AttemptLogEntry, DeliveryTask } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { DeliveryEntry } from './merge-entries.js';

/** What a dead letter carried, so that it can be sent again. */
export type DeadNotification = Pick<DeliveryTask, 'tenantId' | 'eventId' | 'origin' | 'body'>;

export interface ReadRecords {
  readonly entries: readonly DeliveryEntry[];
  readonly notifications: readonly DeadNotification[];
}

/** Told of a record that cannot be read, whole or in part; `reason` is one of few words. */
export type Unreadable = (record: KafkaRecord, reason: string) => void;

const REF = new RegExp(PATTERNS.ref, 'u');

/** The log finds deliveries by what their id is made of, so an entry whose id is made of something else is none. */
const isItself = ({ deliveryId, tenantId, ref, eventId }: AttemptLogEntry): boolean =>
  REF.test(ref) && isTenantId(tenantId) && deliveryIdOf(tenantId, ref, eventId) === deliveryId;

function readPack(record: KafkaRecord, value: Buffer, unreadable: Unreadable): readonly DeliveryEntry[] {
  const parsed = parseAttemptPack(value);
  if (!parsed.ok) {
    unreadable(record, parsed.reason);
    return [];
  }
  const { records } = parsed.pack;
  const entries = records.filter(isItself);
  if (parsed.damaged > 0 || entries.length < records.length) unreadable(record, 'damaged-entry');
  return entries;
}

const WORD = /^[\x21-\x7e]{1,256}$/;

/** The end that a dead letter tells of, as the worker wrote it; its time is the broker's when the header is damaged. */
function endOf(task: DeliveryTask, { headers, timestamp }: KafkaRecord): DeliveryEntry {
  const reason = headerText(headers, 'dead-reason') ?? '';
  const at = headerNumber(headers, 'dead-at') ?? timestamp;
  return {
    ...task,
    kind: 'dead',
    at: at <= MAX_TIME_MS ? at : Math.min(timestamp, MAX_TIME_MS),
    source: task.origin,
    reason: WORD.test(reason) ? reason : 'unknown',
  };
}

function readDeadLetter(record: KafkaRecord, unreadable: Unreadable): ReadRecords {
  const parsed = parseDeliveryTask(record.headers, record.value);
  const end = parsed.ok ? endOf(parsed.task, record) : undefined;
  if (!parsed.ok || !end || !isItself(end)) {
    // The worker puts records there that it could not read either; operators look at those.
    unreadable(record, 'damaged-dead-letter');
    return { entries: [], notifications: [] };
  }
  const { tenantId, eventId, origin, body } = parsed.task;
  return { entries: [end], notifications: [{ tenantId, eventId, origin, body }] };
}

function readRecord(record: KafkaRecord, unreadable: Unreadable): ReadRecords {
  if (record.undecodable !== undefined || record.value === null) {
    unreadable(record, record.value === null ? 'null-value' : 'undecodable');
    return { entries: [], notifications: [] };
  }
  return record.topic === TOPICS.deadLetters
    ? readDeadLetter(record, unreadable)
    : { entries: readPack(record, record.value, unreadable), notifications: [] };
}

/** What records of `webhooks.attempts` and `webhooks.dead-letters` tell. Never throws: what cannot be read is told of. */
export function readRecords(records: readonly KafkaRecord[], unreadable: Unreadable): ReadRecords {
  const parts = records.map((record) => readRecord(record, unreadable));
  return {
    entries: parts.flatMap(({ entries }) => entries),
    notifications: parts.flatMap(({ notifications }) => notifications),
  };
}
