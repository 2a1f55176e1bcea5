import {
  deliveryIdOf,
  headerNumber,
  headerText,
  isTenantId,
  MAX_TIME_MS,
  parseAttemptPack,
  parseDeliveryTask,
  PATTERNS,
  TOPICS,
} from '@webhooks/contracts';
import type { AttemptLogEntry, DeliveryTask, FanOutEntry } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { DeliveryEntry } from './merge-entries.js';
import type { PassedOver } from '../projection/projection.js';

/** What a dead letter carried, so that it can be sent again. */
export type DeadNotification = Pick<DeliveryTask, 'tenantId' | 'eventId' | 'origin' | 'body'>;

interface ReadRecords {
  readonly entries: readonly DeliveryEntry[];
  readonly notifications: readonly DeadNotification[];
  readonly fanOuts: readonly FanOutEntry[];
}

const REF = new RegExp(PATTERNS.ref, 'u');

/** The log finds deliveries by what their id is made of, so an entry whose id is made of something else is none. */
const isItself = ({ deliveryId, tenantId, ref, eventId }: AttemptLogEntry): boolean =>
  REF.test(ref) && isTenantId(tenantId) && deliveryIdOf(tenantId, ref, eventId) === deliveryId;

const NOTHING: ReadRecords = { entries: [], notifications: [], fanOuts: [] };

function readPack(record: KafkaRecord, value: Buffer, passedOver: PassedOver): ReadRecords {
  const parsed = parseAttemptPack(value);
  if (!parsed.ok) {
    passedOver(record, parsed.reason);
    return NOTHING;
  }
  const { records } = parsed.pack;
  const entries = records.filter(isItself);
  if (parsed.damaged > 0 || entries.length < records.length) passedOver(record, 'damaged-entry');
  return { ...NOTHING, entries, fanOuts: parsed.fanOuts };
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

function readDeadLetter(record: KafkaRecord, passedOver: PassedOver): ReadRecords {
  const parsed = parseDeliveryTask(record.headers, record.value);
  const end = parsed.ok ? endOf(parsed.task, record) : undefined;
  if (!parsed.ok || !end || !isItself(end)) {
    // The worker puts records there that it could not read either; operators look at those.
    passedOver(record, 'damaged-dead-letter');
    return NOTHING;
  }
  const { tenantId, eventId, origin, body } = parsed.task;
  return { ...NOTHING, entries: [end], notifications: [{ tenantId, eventId, origin, body }] };
}

function readRecord(record: KafkaRecord, passedOver: PassedOver): ReadRecords {
  if (record.undecodable !== undefined || record.value === null) {
    passedOver(record, record.value === null ? 'null-value' : 'undecodable');
    return NOTHING;
  }
  return record.topic === TOPICS.deadLetters
    ? readDeadLetter(record, passedOver)
    : readPack(record, record.value, passedOver);
}

/** What records of `webhooks.attempts` and `webhooks.dead-letters` tell. Never throws: what cannot be read is told of. */
export function readRecords(records: readonly KafkaRecord[], passedOver: PassedOver): ReadRecords {
  const parts = records.map((record) => readRecord(record, passedOver));
  return {
    entries: parts.flatMap(({ entries }) => entries),
    notifications: parts.flatMap(({ notifications }) => notifications),
    fanOuts: parts.flatMap(({ fanOuts }) => fanOuts),
  };
}
