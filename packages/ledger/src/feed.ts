import { setTimeout as delay } from 'node:timers/promises';
import { TOPICS } from '@webhooks/contracts';
import { ProblemError } from '@webhooks/client';
import type { Client, EventResult } from '@webhooks/client';
import type { Producer } from 'kafkajs';
import type { FeedLine } from './feed-line.js';
import { createPaymentProducer } from './payment-producer.js';

/** What the topic and ingest acknowledged and refused. */
export interface FeedReport {
  /** Lines that were acknowledged as durable events. */
  readonly acknowledged: FeedLine[];
  /** Lines that ingest refused. */
  refusedByIngest: number;
  /** Lines on the topic that are no events: the worker has to reject them. */
  toBeRejected: number;
}

const TOPIC_BATCH = 200;
const INGEST_BATCH = 100;
const INGEST_BATCH_BYTES = 500_000;
const INGEST_CONNECTIONS = 4;
const RETRY_FOR_MS = 120_000;

/** Repeats `work` while the broker is away, for two minutes at most: a payment system repeats what was not acknowledged. */
async function persist(work: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + RETRY_FOR_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(500);
    }
  }
}

/** Keyed by the end-to-end id, acks=all. */
async function produceBatch(producer: Producer, lines: readonly FeedLine[]): Promise<void> {
  const messages = lines.map(({ record, event }) => ({
    key: event?.data.endToEndId ?? 'unreadable',
    value: record,
  }));
  await persist(() => producer.send({ topic: TOPICS.events, acks: -1, messages }));
}

function noteProduced(lines: readonly FeedLine[], report: FeedReport): void {
  for (const line of lines) {
    if (line.event) report.acknowledged.push(line);
    else report.toBeRejected += 1;
  }
}

export async function feedTopic(
  brokers: readonly string[],
  lines: readonly FeedLine[],
  report: FeedReport,
): Promise<void> {
  const producer = createPaymentProducer(brokers, 'demo-payment-system');
  await persist(() => producer.connect());
  try {
    for (let from = 0; from < lines.length; from += TOPIC_BATCH) {
      const batch = lines.slice(from, from + TOPIC_BATCH);
      await produceBatch(producer, batch);
      noteProduced(batch, report);
    }
  } finally {
    await producer.disconnect();
  }
}

function* batches(lines: readonly FeedLine[]): Generator<readonly FeedLine[]> {
  let batch: FeedLine[] = [];
  let bytes = 0;
  for (const line of lines) {
    if (
      batch.length > 0 &&
      (batch.length === INGEST_BATCH || bytes + line.record.byteLength > INGEST_BATCH_BYTES)
    ) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(line);
    bytes += line.record.byteLength;
  }
  if (batch.length > 0) yield batch;
}

/** The results of a post; undefined when ingest acknowledged nothing because it, or Kafka behind it, is away. */
async function tryPost(
  client: Client,
  lines: readonly FeedLine[],
): Promise<readonly EventResult[] | undefined> {
  try {
    return await client.postEventLines(lines.map(({ text }) => text).join('\n'));
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.status >= 500) return undefined;
    // The whole body was refused: one line that is too large for any request.
    if (lines.length === 1) return [{ index: 0, status: 'invalid' }];
    throw error;
  }
}

/** Posts lines once. Returns those that were neither accepted nor refused. */
async function postOnce(
  client: Client,
  lines: readonly FeedLine[],
  report: FeedReport,
): Promise<readonly FeedLine[]> {
  const results = await tryPost(client, lines);
  if (!results) return lines;
  return lines.filter((line, index) => {
    const status = results[index]?.status;
    if (status === 'accepted') report.acknowledged.push(line);
    else if (status !== 'unavailable') report.refusedByIngest += 1;
    return status === 'unavailable';
  });
}

/** Posts lines until each is accepted or refused. An unavailable line is posted again with the same id. */
async function postBatch(client: Client, lines: readonly FeedLine[], report: FeedReport): Promise<void> {
  const deadline = performance.now() + RETRY_FOR_MS;
  for (
    let open = await postOnce(client, lines, report);
    open.length > 0;
    open = await postOnce(client, open, report)
  ) {
    if (performance.now() > deadline) throw new Error(`ingest was unavailable for ${RETRY_FOR_MS / 1_000} s`);
    await delay(500);
  }
}

export async function feedIngest(
  client: Client,
  lines: readonly FeedLine[],
  report: FeedReport,
): Promise<void> {
  const queue = batches(lines);
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next())
      await postBatch(client, next.value, report);
  };
  await Promise.all(Array.from({ length: INGEST_CONNECTIONS }, worker));
}
