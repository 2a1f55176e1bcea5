import { RETRY_TIERS, TOPICS, deliveryIdOf, dueAtOf } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { Notes } from '../notes.js';
import { placeOf, showRecord } from './fuzz-record.js';
import type { WrittenRecord } from './fuzz-record.js';
import type { RecordContext } from './make-record.js';
import { eventOf, taskOf } from './read-record.js';
import type { NamedTask } from './read-record.js';
import { attemptOf, cycleOf } from './seen.js';
import type { Seen } from './seen.js';

/** What came of a batch of records. */
export interface Outcome {
  readonly seen: Seen;
  /** Ids that arrived at the endpoint, by path. */
  readonly arrived: ReadonlyMap<string, ReadonlySet<string>>;
  /** The configuration of each type that is registered and in force. */
  readonly refOf: RecordContext['refOf'];
  readonly notes: Notes;
}

const SHORTEST = RETRY_TIERS[0]?.topic ?? '';
/** What is due later waits longer than a batch is waited for. */
const SOON_MS = 2_000;

const arrivedAt = ({ arrived }: Outcome, path: string, id: string): boolean =>
  arrived.get(path)?.has(id) ?? false;

export const pathOf = ({ eventType }: Pick<PaymentEvent, 'eventType'>): string => `/events/${eventType}`;

const isSame = (left: Buffer | null, right: Buffer | null): boolean =>
  left === null || right === null ? left === right : left.equals(right);

function judgeRejected(record: WrittenRecord, reason: string, { seen }: Outcome): string | undefined {
  const rejected = seen.rejected.get(placeOf(record));
  if (rejected?.reason !== reason)
    return `expected it rejected as ${reason}, was ${rejected?.reason ?? 'not rejected'}`;
  return isSame(record.value, rejected.value) ? undefined : 'rejected with other bytes';
}

/** An event that can be read is delivered and not rejected; one that cannot is rejected with its reason and its bytes. */
function judgeEvent(record: WrittenRecord, outcome: Outcome): string | undefined {
  const read = eventOf(record);
  if (!read.ok) return judgeRejected(record, read.reason, outcome);
  const rejected = outcome.seen.rejected.get(placeOf(record));
  if (rejected) return `a valid event was rejected as ${rejected.reason}`;
  const event = read.is;
  const isOurs = event.tenantId === FUZZ_TENANTS.topics;
  return isOurs && !arrivedAt(outcome, pathOf(event), event.id) ? 'a valid event did not arrive' : undefined;
}

/** Whether the record is looked at while the batch is waited for. */
function isSoon({ topic, headers }: WrittenRecord): boolean {
  if (topic === TOPICS.deliveries) return true;
  return topic === SHORTEST && (dueAtOf(headers) ?? 0) <= Date.now() + SOON_MS;
}

/** Whether there is a configuration that it has to be attempted for; the others end as cancelled or dead. */
const isRegistered = (task: NamedTask, { refOf }: Outcome): boolean =>
  task.tenantId === FUZZ_TENANTS.topics &&
  task.ref === refOf(task.eventType) &&
  task.applicationId === undefined &&
  // Another id may be that of a task which was settled before.
  task.deliveryId === deliveryIdOf(task.tenantId, task.ref, task.eventId);

/**
 * The endpoint answers 200 to everything: an undamaged task arrives, whatever is told of its attempts; of another one an
 * end that was told will do.
 */
function judgeAttempt(task: NamedTask, isValid: boolean, outcome: Outcome): string | undefined {
  const result = outcome.seen.attempted.get(attemptOf(task));
  if (result === undefined) return 'a task of a registered configuration was not attempted';
  if (arrivedAt(outcome, pathOf(task), task.eventId)) return undefined;
  if (result === 'delivered') return 'told as delivered, and did not arrive';
  if (isValid) return 'an undamaged task did not arrive';
  return outcome.seen.ended.has(cycleOf(task)) ? undefined : 'a task did not arrive, and has no end';
}

/**
 * A task that can be read is attempted when its configuration is registered, and in any case told of in the attempt log; one
 * that cannot is a dead letter with its reason.
 */
function judgeTask(record: WrittenRecord, outcome: Outcome): string | undefined {
  if (!isSoon(record)) return undefined;
  const { seen } = outcome;
  const read = taskOf(record);
  const expected = read.ok ? 'none' : read.reason;
  const damaged = seen.damaged.get(placeOf(record)) ?? 'none';
  if (damaged !== expected) return `expected a dead letter as ${expected}, was ${damaged}`;
  if (!read.ok) return undefined;
  if (isRegistered(read.is, outcome)) return judgeAttempt(read.is, record.isValid, outcome);
  return seen.told.has(placeOf(record)) ? undefined : 'a task that can be read is nowhere told of';
}

const wordFor = ({ topic }: WrittenRecord): string =>
  topic.startsWith('webhooks.retries') ? 'webhooks.retries' : topic;

const isTask = ({ topic }: WrittenRecord): boolean =>
  topic === TOPICS.deliveries || topic.startsWith('webhooks.retries');

function judgeOne(record: WrittenRecord, outcome: Outcome): string | undefined {
  if (record.topic === TOPICS.events) return judgeEvent(record, outcome);
  return isTask(record) ? judgeTask(record, outcome) : undefined;
}

/** Whether each task of the batch has come to its end: when an attempt fails, another one follows. */
export const isSettled = (records: readonly WrittenRecord[], outcome: Outcome): boolean =>
  records.every((record) => !isTask(record) || judgeTask(record, outcome) === undefined);

/** Ids that a readable record of the batch asked to be sent. */
function askedIds(records: readonly WrittenRecord[]): Set<string> {
  const ids = new Set<string>();
  for (const record of records) {
    const event = record.topic === TOPICS.events ? eventOf(record) : undefined;
    if (event?.ok) ids.add(event.is.id);
    const task = isTask(record) ? taskOf(record) : undefined;
    if (task?.ok) ids.add(task.is.eventId);
  }
  return ids;
}

/** What arrived though no record of the batch asked for it, in words. */
function uninvited({ arrived }: Outcome, asked: ReadonlySet<string>): readonly string[] {
  const isEvents = ([path]: readonly [string, unknown]): boolean => path.startsWith('/events/');
  return [...arrived]
    .filter(isEvents)
    .flatMap(([path, ids]) =>
      [...ids].filter((id) => !asked.has(id)).map((id) => `nobody asked to send ${id} to ${path}`),
    );
}

/** Holds each record against what the services made of it. `probes` are ids of valid events that were sent beside them. */
export function judgeRecords(
  records: readonly WrittenRecord[],
  probes: ReadonlySet<string>,
  outcome: Outcome,
): void {
  const { notes, seen } = outcome;
  for (const record of records) {
    const fault = judgeOne(record, outcome);
    notes.took(wordFor(record));
    if (fault !== undefined) notes.found(record.index, fault, showRecord(record));
  }
  const last = records.at(-1)?.index ?? 0;
  for (const fault of uninvited(outcome, new Set([...askedIds(records), ...probes])))
    notes.found(last, fault, '');
  const own = new Set(records.map(placeOf));
  for (const [place, pack] of seen.badPacks)
    if (!own.has(place)) notes.found(last, 'the worker wrote a pack that its reader refuses', pack);
}
