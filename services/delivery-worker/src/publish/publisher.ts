import { setTimeout as sleep } from 'node:timers/promises';
import { RETRY_TIERS } from '@webhooks/contracts';
import { openSink, RecordRefused } from '@webhooks/kafka';
import type { Kafka, OutgoingRecord, Sink } from '@webhooks/kafka';
import { createLogThrottle, errorFields } from '@webhooks/runtime';
import type { Logger, ServiceScope } from '@webhooks/runtime';

/** JavaScript's own error types, which mean a bug in the code. */
const FAULTS_OF_CODE = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'URIError']);
/**
 * Kafka's errors that reject the record itself. Others, such as a missing topic or missing rights, are for operators
 * to fix.
 */
const FAULTS_OF_RECORD = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Whether the fault is permanent: the same record will fail at the next try too. Faults of the environment (Kafka
 * down, a stale cache, a shutdown) are not.
 */
export const isPermanentFault = (error: unknown): error is Error =>
  error instanceof RecordRefused
    ? FAULTS_OF_RECORD.has(error.reason)
    : error instanceof Error && FAULTS_OF_CODE.has(error.name);

/** Resolves when Kafka acknowledged the record. Rejects when the worker shuts down first, and for a permanent fault. */
export type PublishWithRetry = (record: OutgoingRecord) => Promise<void>;

/** Pause between two tries, milliseconds. Within a try, the sink itself retries until its deadline. */
const PAUSE_MS = 1_000;

/**
 * Publishes until Kafka acknowledges the record, unless the fault is permanent. An attempt that was made must not be
 * repeated because a broker is down. The source's window bounds how many settlements wait here.
 */
export function createPublishWithRetry(sink: Pick<Sink, 'send'>, log: Logger, signal: AbortSignal) {
  // Thousands of records may wait while a broker is down.
  const throttle = createLogThrottle();
  let pausing: Promise<void> | undefined;
  /** One pause for all records: thousands of listeners to one signal would cost seconds. */
  const pause = (): Promise<void> =>
    (pausing ??= sleep(PAUSE_MS, undefined, { signal }).finally(() => (pausing = undefined)));
  return async (record: OutgoingRecord): Promise<void> => {
    for (;;) {
      try {
        await sink.send(record);
        return;
      } catch (error) {
        if (signal.aborted || isPermanentFault(error)) throw error;
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
 * Returns the tier itself, or the next shorter tier that exists, whose reader moves records that are not due.
 * Without a shorter tier, the shortest that exists.
 */
function existingTierFor(topic: string, missing: readonly string[]): string {
  const wanted = RETRY_TIERS.findIndex((tier) => tier.topic === topic);
  const exists = (tier: { readonly topic: string }): boolean => !missing.includes(tier.topic);
  return (RETRY_TIERS.slice(0, wanted + 1).findLast(exists) ?? RETRY_TIERS.find(exists))?.topic ?? topic;
}

const TIERS = new Set(RETRY_TIERS.map(({ topic }) => topic));

/**
 * Linger of the sink for retry tiers, milliseconds. It delays only deliveries whose wait equals the delay of their
 * tier.
 */
const TIER_LINGER_MS = 100;
/**
 * Records in one batch for tiers. Without this bound, 4,000 deferrals a second would keep 400 records in the window
 * and encode them in one turn of the event loop.
 */
const TIER_BATCH = 256;

/**
 * Opens two sinks. Deferred deliveries are spread over many tiers and partitions. Without their longer linger, each
 * would be a batch of its own and half a request. Each sink may hold 64 MiB.
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
  // Does not excuse a stall: the membership of the sources already shows whether Kafka is reachable.
  scope.health.readiness('kafka sink', fault, false);
  // The broker rejects writes itself, for example with too few replicas in sync. A restart would only repeat all
  // attempts in flight.
  const refusal = () => prompt.health().refusal ?? waiting.health().refusal;
  scope.health.readiness('kafka writes', refusal);
  const publishPrompt = createPublishWithRetry(prompt, scope.log, stopping.signal);
  const send: Sink['send'] = (record, options) =>
    waiting.send({ ...record, topic: existingTierFor(record.topic, missing()) }, options);
  const publishWaiting = createPublishWithRetry({ send }, scope.log, stopping.signal);
  return (record: OutgoingRecord) =>
    TIERS.has(record.topic) ? publishWaiting(record) : publishPrompt(record);
}
