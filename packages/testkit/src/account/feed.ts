import { ProblemError } from '@webhooks/client';
import type { Client, EventResult } from '@webhooks/client';
import { deriveEventId, parseStrictJson, readEvent, readPostedEvent } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { DEFAULT_TENANTS, PAYMENT_SYSTEM } from '@webhooks/local';
import { eventually } from '../eventually.js';
import { openProducer } from './kafka.js';
import { clientFor } from './register-webhooks.js';
import type { FedStack } from './register-webhooks.js';
import { STALLED_MS } from './progress.js';

/** One line of the events file, and the event in it. */
export interface FeedLine {
  /** Value of the record for the topic. */
  readonly record: Buffer;
  /** Text to post to ingest. */
  readonly text: string;
  /** Absent when ingest is expected to refuse the text. */
  readonly event?: PaymentEvent;
  /** Absent when the worker is expected to reject the record. It accepts an amount of zero and a time far ahead, which ingest refuses. */
  readonly topicEvent?: PaymentEvent;
  /** Why ingest is expected to refuse the text; absent for a valid one. */
  readonly fault?: string;
}

/** Parses a line as ingest does. Returns the event, or why ingest has to refuse the line. */
function postedEvent(text: string): Pick<FeedLine, 'event' | 'fault'> {
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return { fault: parsed.fault };
  const read = readPostedEvent(parsed.value);
  if (!read.ok) {
    const [first] = read.violations;
    return { fault: [read.reason, first?.property, first?.reason].filter(Boolean).join(' ') };
  }
  const { tenantId = DEFAULT_TENANTS[0], ...posted } = read.event;
  return { event: { ...posted, tenantId, id: posted.id ?? deriveEventId(tenantId, posted) } };
}

/** Parses one line. A missing id or tenant is filled in, as a payment system that produces to the topic itself would do. */
export function readFeedLine(text: string): FeedLine {
  const posted = postedEvent(text);
  const isWhole = posted.event === undefined || readEvent(Buffer.from(text)).ok;
  const record = Buffer.from(isWhole ? text : JSON.stringify(posted.event));
  const read = readEvent(record);
  return { record, text, ...posted, ...(read.ok && { topicEvent: posted.event ?? read.event }) };
}

/** Creates an empty report of what the topic and ingest acknowledged and refused. */
export const newReport = () => ({
  /** Events that were acknowledged as durable. */
  acknowledged: [] as PaymentEvent[],
  /** Lines that ingest refused. */
  refusedByIngest: 0,
  /** Invalid lines on the topic, which the worker has to reject. */
  toBeRejected: 0,
});
type FeedReport = ReturnType<typeof newReport>;

const BATCH = 100;

/** Splits a list into batches of `size`; the last one may be shorter. */
export function* batchesOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

/** Retries `work` for two minutes at most, as a payment system does until it gets an acknowledgement. */
const retryWork = <T>(work: () => Promise<T>): Promise<Exclude<T, false>> =>
  eventually(work, { timeoutMs: STALLED_MS, intervalMs: 500, message: 'all events are acknowledged' });

/** Produces the lines to the topic with acks=all, keyed by end-to-end id, and adds the results to `report`. */
export async function feedTopic(
  brokers: readonly string[],
  lines: readonly FeedLine[],
  report: FeedReport,
): Promise<void> {
  const producer = await retryWork(() => openProducer(brokers, 'demo-payment-system'));
  try {
    for (const batch of batchesOf(lines, BATCH)) {
      const messages = batch.map(({ record: value, topicEvent }) => ({
        key: topicEvent?.data.endToEndId ?? 'unreadable',
        value,
      }));
      await retryWork(() => producer.send(messages));
      const events = batch.flatMap(({ topicEvent }) => topicEvent ?? []);
      report.acknowledged.push(...events);
      report.toBeRejected += batch.length - events.length;
    }
  } finally {
    await producer.close();
  }
}

/**
 * Posts lines and returns the result of each. A body that is too large (413) is split in half. A single line that is too large is invalid.
 */
async function postLines(
  client: Client,
  lines: readonly FeedLine[],
): Promise<readonly Pick<EventResult, 'status'>[]> {
  try {
    return await client.postEventLines(lines.map(({ text }) => text).join('\n'));
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.status !== 413) throw error;
    if (lines.length === 1) return [{ status: 'invalid' }];
    const half = Math.ceil(lines.length / 2);
    return [
      ...(await postLines(client, lines.slice(0, half))),
      ...(await postLines(client, lines.slice(half))),
    ];
  }
}

/** Posts lines until each is accepted or refused. An unavailable line is posted again with the same id. */
async function feedIngest(client: Client, lines: readonly FeedLine[], report: FeedReport): Promise<void> {
  for (const batch of batchesOf(lines, BATCH)) {
    let open = batch;
    await retryWork(async () => {
      const results = await postLines(client, open);
      const having = (status: string): FeedLine[] =>
        open.filter((_, index) => results[index]?.status === status);
      const [accepted, unavailable] = [having('accepted'), having('unavailable')];
      report.acknowledged.push(...accepted.flatMap(({ event }) => event ?? []));
      report.refusedByIngest += open.length - accepted.length - unavailable.length;
      open = unavailable;
      return open.length === 0;
    });
  }
}

/** Feeds every second line straight to the topic and posts the others to ingest, both at the same time. */
export async function feed(stack: FedStack, lines: readonly FeedLine[]): Promise<FeedReport> {
  const report = newReport();
  const [even, odd] = [0, 1].map((rest) => lines.filter((_, index) => index % 2 === rest));
  const paymentSystem = clientFor(stack, PAYMENT_SYSTEM);
  await Promise.all([
    feedTopic(stack.kafkaBrokers, even ?? [], report),
    feedIngest(paymentSystem, odd ?? [], report),
  ]);
  return report;
}
