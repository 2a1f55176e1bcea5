import { setTimeout as sleep } from 'node:timers/promises';
import { RETRY_TIERS } from '@webhooks/contracts';
import { openSink, RecordRefused } from '@webhooks/kafka';
import type { Kafka, OutgoingRecord, Sink } from '@webhooks/kafka';
import { createLogThrottle, errorFields } from '@webhooks/runtime';
import type { Logger, ServiceScope } from '@webhooks/runtime';

/** What the language itself throws: a fault of our code. */
const FAULTS_OF_CODE = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'URIError']);
/** Why Kafka refuses a record for what it is. Other reasons (no such topic, not authorised) are for operators to mend. */
const FAULTS_OF_RECORD = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Whether the same record will meet this fault at the next try, too. A fault of what surrounds us (Kafka away, a stale
 * cache, a stop) is none of the record's, however long it lasts.
 */
export const isLastingFault = (error: unknown): error is Error =>
  error instanceof RecordRefused
    ? FAULTS_OF_RECORD.has(error.reason)
    : error instanceof Error && FAULTS_OF_CODE.has(error.name);

/** Resolves when Kafka acknowledged the record; rejects when the worker stops first, and with a lasting fault (see there). */
export type PublishWithRetry = (record: OutgoingRecord) => Promise<void>;

/** Between two tries: the sink has tried until its deadline itself. */
const PAUSE_MS = 1_000;

/**
 * Publishes until it succeeds, unless it never will. A failed attempt was made and must not be made again because a broker is
 * away: its settlement waits here, bounded by the window of the source that read the record.
 */
export function createPublishWithRetry(sink: Pick<Sink, 'send'>, log: Logger, signal: AbortSignal) {
  // Thousands of records may wait while a broker is away.
  const throttle = createLogThrottle();
  let pausing: Promise<void> | undefined;
  /** One for all who wait: thousands of listeners to one signal would cost seconds. */
  const pause = (): Promise<void> =>
    (pausing ??= sleep(PAUSE_MS, undefined, { signal }).finally(() => (pausing = undefined)));
  return async (record: OutgoingRecord): Promise<void> => {
    for (;;) {
      try {
        await sink.send(record);
        return;
      } catch (error) {
        if (signal.aborted || isLastingFault(error)) throw error;
        throttle((records) => {
          const fields = { topic: record.topic, records, ...errorFields(error) };
          log.warn('records were not acknowledged; publishing them again', fields);
        });
        await pause();
      }
    }
  };
}

/**
 * The tier itself, or the next smaller one that exists: whoever reads that moves what is not due. Below the smallest one the next
 * longer.
 */
function standIn(topic: string, missing: readonly string[]): string {
  const asked = RETRY_TIERS.findIndex((tier) => tier.topic === topic);
  const exists = (tier: { readonly topic: string }): boolean => !missing.includes(tier.topic);
  return (RETRY_TIERS.slice(0, asked + 1).findLast(exists) ?? RETRY_TIERS.find(exists))?.topic ?? topic;
}

const TIERS = new Set(RETRY_TIERS.map(({ topic }) => topic));

/** So much later a delivery may come that waits as long as its tier, to the millisecond; others not at all. */
const TIER_LINGER_MS = 100;
/** Company enough: 4,000 deferrals a second would hold 400 records of the window, and encode them in one turn of the event loop. */
const TIER_BATCH = 256;

/**
 * Nobody waits for what is going to wait, so it lingers longer: deferred deliveries are spread over tiers and partitions, and
 * without company each would be a batch, an append and half a request of its own. Two sinks: each may hold 64 MiB.
 */
export async function openPublisher(kafka: Kafka, scope: ServiceScope, missing: () => readonly string[]) {
  const stopping = new AbortController();
  const [prompt, waiting] = await Promise.all([
    openSink({ kafka }),
    openSink({ kafka, lingerMs: TIER_LINGER_MS, maxBatchRecords: TIER_BATCH }),
  ]);
  scope.onClose('sinks', async () => {
    stopping.abort();
    await Promise.all([prompt.close(), waiting.close()]);
  });
  const fault = () => prompt.health().lastError ?? waiting.health().lastError;
  // A source's membership shows whether Kafka is there.
  scope.health.readiness('kafka sink', fault, false);
  // A broker says so itself (too few replicas in sync, say): each restart would only attempt all again.
  const refusal = () => prompt.health().refusal ?? waiting.health().refusal;
  scope.health.readiness('kafka writes', refusal);
  const publishPrompt = createPublishWithRetry(prompt, scope.log, stopping.signal);
  const send: Sink['send'] = (record, options) =>
    waiting.send({ ...record, topic: standIn(record.topic, missing()) }, options);
  const publishWaiting = createPublishWithRetry({ send }, scope.log, stopping.signal);
  return (record: OutgoingRecord) =>
    TIERS.has(record.topic) ? publishWaiting(record) : publishPrompt(record);
}
