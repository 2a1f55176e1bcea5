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
import { openSpans, readUnhandled, withAdmin } from '@webhooks/testkit/account';
import type { FoundRecord } from '@webhooks/testkit/account';
import type { Stack } from '@webhooks/local';
import type { DeadSeen, EntrySeen, Place, TaskSeen, TopicEvidence } from './evidence.js';

/** What the workers read; `openSpans` says how far they are. */
const HANDLED = {
  topics: [TOPICS.events, TOPICS.deliveries, TOPICS.fanOuts, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};

/** Collects what the records say. */
class Collector {
  readonly copies = new Map<string, Place[]>();
  readonly tasks: TaskSeen[] = [];
  readonly entries: EntrySeen[] = [];
  readonly dead: DeadSeen[] = [];
  readonly rejected: Place[] = [];
  readonly unreadable: Place[] = [];

  note(record: FoundRecord): void {
    const { topic, partition, message } = record;
    const place = { topic, partition, offset: Number(message.offset), appendedAt: Number(message.timestamp) };
    const isRead = this.#read(record, place);
    if (!isRead) this.unreadable.push(place);
  }

  #read({ topic, message }: FoundRecord, place: Place): boolean {
    if (topic === TOPICS.rejected) return this.rejected.push(place) > 0;
    if (topic === TOPICS.events) return this.#readEvent(message.value, place);
    if (topic === TOPICS.attempts) return this.#readPack(message.value, place);
    if (topic === TOPICS.fanOuts) return parseFanOut(message.headers ?? {}, message.value).ok;
    return this.#readTask({ topic, partition: place.partition, message }, place);
  }

  #readEvent(value: Buffer | null, place: Place): boolean {
    const read = value === null ? undefined : readEvent(value);
    if (!read?.ok) return false;
    const { id } = read.event;
    this.copies.set(id, [...(this.copies.get(id) ?? []), place]);
    return true;
  }

  #readPack(value: Buffer | null, place: Place): boolean {
    const parsed = parseAttemptPack(value ?? Buffer.alloc(0));
    if (!parsed.ok || parsed.damaged > 0) return false;
    this.entries.push(...parsed.pack.records.map((entry) => ({ place, entry })));
    return true;
  }

  #readTask({ topic, message }: FoundRecord, place: Place): boolean {
    const headers = message.headers ?? {};
    const parsed = parseDeliveryTask(headers, message.value);
    if (!parsed.ok) return false;
    const { deliveryId, eventId, attempt, dueAt, history } = parsed.task;
    const about = { place, deliveryId, eventId, attempt };
    if (topic === TOPICS.deadLetters)
      this.dead.push({ ...about, reason: headerText(headers, 'dead-reason') ?? '' });
    else this.tasks.push({ ...about, dueAt, history: parseAttemptHistory(history) });
    return true;
  }
}

const readOpen = (stack: Pick<Stack, 'description'>) =>
  withAdmin(stack.description().kafkaBrokers, (admin) => openSpans(admin, HANDLED));

/** How many records no worker has handled yet. */
export const countOpen = async (stack: Pick<Stack, 'description'>): Promise<number> =>
  (await readOpen(stack)).reduce((sum, { from, to }) => sum + to - from, 0);

/** Reads what Kafka holds. No worker may run: what is read and what is handled must not change in between. */
export async function readTopics(stack: Pick<Stack, 'description'>): Promise<TopicEvidence> {
  const spans = await readOpen(stack);
  const handledUpTo = new Map(spans.map(({ topic, partition, from }) => [`${topic}/${partition}`, from]));
  const collector = new Collector();
  const topics = [...HANDLED.topics, TOPICS.attempts, TOPICS.deadLetters, TOPICS.rejected];
  await readUnhandled(stack.description().kafkaBrokers, { topics }, (record) => collector.note(record));
  const { copies, tasks, entries, dead, rejected, unreadable } = collector;
  return { copies, tasks, entries, dead, rejected, unreadable, handledUpTo };
}
