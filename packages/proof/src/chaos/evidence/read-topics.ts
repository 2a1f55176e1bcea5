import {
  RETRY_TIERS,
  TOPICS,
  headerText,
  parseAttemptHistory,
  parseAttemptPack,
  parseDeliveryTask,
  parseFanOut,
  readEvent,
} from '@webhooks/contracts';
import type { Stack } from '@webhooks/local';
import { findUnhandledRanges, readUnhandled, withAdmin } from '@webhooks/testkit/account';
import type { FoundRecord } from '@webhooks/testkit/account';
import type { DeadSeen, EntrySeen, Place, TaskSeen, TopicEvidence } from './evidence.js';

/** The topics that workers read, and the prefix of their groups. */
const HANDLED = {
  topics: [TOPICS.events, TOPICS.deliveries, TOPICS.fanOuts, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};

/** Creates a collector that parses records. One that cannot be parsed is collected as unreadable. */
function createCollector() {
  const copies = new Map<string, Place[]>();
  const tasks: TaskSeen[] = [];
  const entries: EntrySeen[] = [];
  const dead: DeadSeen[] = [];
  const rejected: Place[] = [];
  const unreadable: Place[] = [];
  const readCopy = (value: Buffer | null, place: Place): boolean => {
    const read = value === null ? undefined : readEvent(value);
    if (!read?.ok) return false;
    const { id } = read.event;
    copies.set(id, [...(copies.get(id) ?? []), place]);
    return true;
  };
  const readPack = (value: Buffer | null, place: Place): boolean => {
    const parsed = parseAttemptPack(value ?? Buffer.alloc(0));
    if (!parsed.ok || parsed.damaged > 0) return false;
    entries.push(...parsed.records.map((entry) => ({ place, entry })));
    return true;
  };
  const readTask = ({ topic, message: { headers = {}, value } }: FoundRecord, place: Place): boolean => {
    const parsed = parseDeliveryTask(headers, value);
    if (!parsed.ok) return false;
    const { deliveryId, eventId, attempt, dueAt, history } = parsed.task;
    const about = { place, deliveryId, eventId, attempt };
    if (topic === TOPICS.deadLetters)
      dead.push({ ...about, reason: headerText(headers, 'dead-reason') ?? '' });
    else tasks.push({ ...about, dueAt, history: parseAttemptHistory(history) });
    return true;
  };
  const read = (record: FoundRecord, place: Place): boolean => {
    const { headers = {}, value } = record.message;
    if (record.topic === TOPICS.rejected) return rejected.push(place) > 0;
    if (record.topic === TOPICS.events) return readCopy(value, place);
    if (record.topic === TOPICS.attempts) return readPack(value, place);
    if (record.topic === TOPICS.fanOuts) return parseFanOut(headers, value).ok;
    return readTask(record, place);
  };
  const note = (record: FoundRecord): void => {
    const { topic, partition, message } = record;
    const place = { topic, partition, offset: Number(message.offset), appendedAt: Number(message.timestamp) };
    if (!read(record, place)) unreadable.push(place);
  };
  return { note, found: { copies, tasks, entries, dead, rejected, unreadable } };
}

const readRanges = (stack: Pick<Stack, 'description'>) =>
  withAdmin(stack.description().kafkaBrokers, (admin) => findUnhandledRanges(admin, HANDLED));

/** Returns the number of records that no worker has handled yet. */
export const countUnhandled = async (stack: Pick<Stack, 'description'>): Promise<number> =>
  (await readRanges(stack)).reduce((sum, { from, to }) => sum + to - from, 0);

/** Reads all records. No worker may run, because neither records nor commits may change meanwhile. */
export async function readTopics(stack: Pick<Stack, 'description'>): Promise<TopicEvidence> {
  const spans = await readRanges(stack);
  const handledUpTo = new Map(spans.map(({ topic, partition, from }) => [`${topic}/${partition}`, from]));
  const { note, found } = createCollector();
  const topics = [...HANDLED.topics, TOPICS.attempts, TOPICS.deadLetters, TOPICS.rejected];
  await readUnhandled(stack.description().kafkaBrokers, { topics }, note);
  return { ...found, handledUpTo };
}
