import {
  centsOf,
  deliveryIdOf,
  headerNumber,
  headerText,
  MAX_TIME_MS,
  parseAttemptPack,
  parseDeliveryTask,
  PATTERNS,
  TOPICS,
} from '@webhooks/contracts';
import type { AttemptLogEntry, DeliveryTask, FanOutEntry } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { DeliveryEntry } from './merge-entries.js';
import type { OnSkipped } from '../projection/projection.js';
import { omitUndefined } from '../omit-undefined.js';
import type { DeadNotification } from '../payments/event-store.js';
import { positionOf } from '../statements/daily-totals.js';

interface ReadRecords {
  readonly entries: DeliveryEntry[];
  readonly notifications: DeadNotification[];
  readonly fanOuts: FanOutEntry[];
}

const REF = new RegExp(PATTERNS.ref, 'u');

/** A delivery id is derived from tenant, ref and event. An entry whose id does not match is damaged. */
const hasDerivedId = ({ deliveryId, tenantId, ref, eventId }: AttemptLogEntry): boolean =>
  REF.test(ref) && deliveryIdOf(tenantId, ref, eventId) === deliveryId;

function addPack(read: ReadRecords, record: KafkaRecord, value: Buffer, onSkipped: OnSkipped): void {
  const parsed = parseAttemptPack(value);
  if (!parsed.ok) return onSkipped(record, parsed.reason);
  const { records } = parsed;
  const entries = records.filter(hasDerivedId);
  if (parsed.damaged > 0 || entries.length < records.length) onSkipped(record, 'damaged-entry');
  const position = positionOf(record);
  read.entries.push(...entries.map((entry) => ({ ...entry, position })));
  read.fanOuts.push(...parsed.fanOuts);
}

const WORD = /^[\x21-\x7e]{1,256}$/;

/** Returns the entry of a dead letter. The broker's time replaces a damaged `dead-at`. */
function endOf({ acceptedAt, ...task }: DeliveryTask, record: KafkaRecord): DeliveryEntry {
  const { headers, timestamp } = record;
  const reason = headerText(headers, 'dead-reason') ?? '';
  const at = headerNumber(headers, 'dead-at') ?? timestamp;
  return {
    ...task,
    ...omitUndefined({ acceptedAt, cents: centsOf(task.body) }),
    position: positionOf(record),
    kind: 'dead',
    at: at <= MAX_TIME_MS ? at : Math.min(timestamp, MAX_TIME_MS),
    source: task.origin,
    reason: WORD.test(reason) ? reason : 'unknown',
  };
}

function addDeadLetter(read: ReadRecords, record: KafkaRecord, onSkipped: OnSkipped): void {
  const parsed = parseDeliveryTask(record.headers, record.value);
  const end = parsed.ok ? endOf(parsed.task, record) : undefined;
  // The topic also contains records that the worker could not read. Operators inspect those.
  if (!parsed.ok || !end || !hasDerivedId(end)) return onSkipped(record, 'damaged-dead-letter');
  const { tenantId, eventId, origin, body } = parsed.task;
  read.entries.push(end);
  read.notifications.push({ tenantId, eventId, origin, body });
}

/** Reads records of `webhooks.attempts` and `webhooks.dead-letters`. Never throws: reports unreadable records. */
export function readRecords(records: readonly KafkaRecord[], onSkipped: OnSkipped): ReadRecords {
  const read: ReadRecords = { entries: [], notifications: [], fanOuts: [] };
  for (const record of records) {
    const { undecodable, value, topic } = record;
    if (value === null) onSkipped(record, 'null-value');
    else if (undecodable !== undefined) onSkipped(record, 'undecodable');
    else if (topic === TOPICS.deadLetters) addDeadLetter(read, record, onSkipped);
    else addPack(read, record, value, onSkipped);
  }
  return read;
}
