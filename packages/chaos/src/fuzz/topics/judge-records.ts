import { TOPICS, dueAtOf, parseDeliveryTask, readEvent, RETRY_TIERS } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { Notes } from '../notes.js';
import { placeOf, showRecord } from './fuzz-record.js';
import type { WrittenRecord } from './fuzz-record.js';
import type { Seen } from './seen.js';

/** What came of a batch of records. */
export interface Outcome {
  readonly seen: Seen;
  /** Ids that arrived at the endpoint, by path. */
  readonly arrived: ReadonlyMap<string, ReadonlySet<string>>;
  readonly notes: Notes;
}

const SHORTEST = RETRY_TIERS[0]?.topic ?? '';
/** What is due later waits longer than a batch is waited for. */
const SOON_MS = 2_000;

const arrivedAt = ({ arrived }: Outcome, path: string, id: string): boolean =>
  arrived.get(path)?.has(id) ?? false;

export const pathOf = ({ eventType }: Pick<PaymentEvent, 'eventType'>): string => `/events/${eventType}`;

type Unreadable = Extract<ReturnType<typeof readEvent>, { ok: false }>;

const isSame = (left: Buffer | null, right: Buffer | null): boolean =>
  left === null || right === null ? left === right : left.equals(right);

function judgeRejected(record: WrittenRecord, { reason }: Unreadable, { seen }: Outcome): string | undefined {
  const rejected = seen.rejected.get(placeOf(record));
  if (rejected?.reason !== reason)
    return `expected it rejected as ${reason}, was ${rejected?.reason ?? 'not rejected'}`;
  return isSame(record.value, rejected.value) ? undefined : 'rejected with other bytes';
}

/** An event that can be read is delivered and not rejected; one that cannot is rejected with its reason and its bytes. */
function judgeEvent(record: WrittenRecord, outcome: Outcome): string | undefined {
  const read = readEvent(record.value);
  if (!read.ok) return judgeRejected(record, read, outcome);
  const rejected = outcome.seen.rejected.get(placeOf(record));
  if (rejected) return `a valid event was rejected as ${rejected.reason}`;
  const { event } = read;
  const isOurs = event.tenantId === FUZZ_TENANTS.topics;
  return isOurs && !arrivedAt(outcome, pathOf(event), event.id) ? 'a valid event did not arrive' : undefined;
}

/** Whether the record is looked at while the batch is waited for. */
function isSoon({ topic, headers }: WrittenRecord): boolean {
  if (topic === TOPICS.deliveries) return true;
  return topic === SHORTEST && (dueAtOf(headers) ?? 0) <= Date.now() + SOON_MS;
}

/** A task that can be read is told of in the attempt log; one that cannot is a dead letter with its reason. */
function judgeTask(record: WrittenRecord, { seen }: Outcome): string | undefined {
  if (!isSoon(record)) return undefined;
  const parsed = parseDeliveryTask(record.headers, record.value);
  const expected = parsed.ok ? 'none' : parsed.reason;
  const damaged = seen.damaged.get(placeOf(record)) ?? 'none';
  if (damaged !== expected) return `expected a dead letter as ${expected}, was ${damaged}`;
  if (!parsed.ok || seen.told.has(placeOf(record))) return undefined;
  return 'a task that can be read is nowhere told of';
}

const wordFor = ({ topic }: WrittenRecord): string =>
  topic.startsWith('webhooks.retries') ? 'webhooks.retries' : topic;

function judgeOne(record: WrittenRecord, outcome: Outcome): string | undefined {
  if (record.topic === TOPICS.events) return judgeEvent(record, outcome);
  const isTask = record.topic === TOPICS.deliveries || record.topic.startsWith('webhooks.retries');
  return isTask ? judgeTask(record, outcome) : undefined;
}

/** Ids that a readable record of the batch asked to be sent. */
function askedIds(records: readonly WrittenRecord[]): Set<string> {
  const ids = new Set<string>();
  for (const { topic, value, headers } of records) {
    const event = topic === TOPICS.events ? readEvent(value) : undefined;
    if (event?.ok) ids.add(event.event.id);
    const task = topic === TOPICS.events ? undefined : parseDeliveryTask(headers, value);
    if (task?.ok) ids.add(task.task.eventId);
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
