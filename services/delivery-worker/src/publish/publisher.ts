import { setTimeout as sleep } from 'node:timers/promises';
import { RETRY_TIERS } from '@webhooks/contracts';
import { openSink, RecordRefused } from '@webhooks/kafka';
import type { Kafka, OutgoingRecord, Sink } from '@webhooks/kafka';
import { createLogThrottle, errorFields } from '@webhooks/runtime';
import type { Logger, ServiceScope } from '@webhooks/runtime';

/** Errors of the language: faults of our code. */
const FAULTS_OF_CODE = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'URIError']);
/**
 * Reasons by which Kafka refuses the record itself. Others, such as a missing topic or right, are for operators to
 * mend.
 */
const FAULTS_OF_RECORD = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Whether the same record will fail at the next try too. Faults of the surroundings (Kafka away, a stale cache, a
 * stop) are not lasting.
 */
export const isLastingFault = (error: unknown): error is Error =>
  error instanceof RecordRefused
    ? FAULTS_OF_RECORD.has(error.reason)
    : error instanceof Error && FAULTS_OF_CODE.has(error.name);

/** Resolves when Kafka acknowledged the record. Rejects when the worker stops first, and with a lasting fault. */
export type PublishWithRetry = (record: OutgoingRecord) => Promise<void>;

/** Pause between two tries; the sink itself tries until its deadline. */
const PAUSE_MS = 1_000;

/**
 * Publishes until it succeeds, unless the fault is lasting. An attempt that was made must not be repeated because a
 * broker is away. The source's window bounds how many settlements wait here.
 */
export function createPublishWithRetry(sink: Pick<Sink, 'send'>, log: Logger, signal: AbortSignal) {
  // Thousands of records may wait while a broker is away.
  const throttle = createLogThrottle();
  let pausing: Promise<void> | undefined;
  /** One pause for all: thousands of listeners to one signal would cost seconds. */
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
 * The tier itself, or the next smaller one that exists, whose reader moves what is not due. Below the smallest one
 * the next longer.
 */
function standIn(topic: string, missing: readonly string[]): string {
  const wanted = RETRY_TIERS.findIndex((tier) => tier.topic === topic);
  const exists = (tier: { readonly topic: string }): boolean => !missing.includes(tier.topic);
  return (RETRY_TIERS.slice(0, wanted + 1).findLast(exists) ?? RETRY_TIERS.find(exists))?.topic ?? topic;
}

const TIERS = new Set(RETRY_TIERS.map(({ topic }) => topic));

/**
 * Linger of the sink for tiers, milliseconds. Only deliveries that wait exactly as long as their tier come later by
 * it.
 */
const TIER_LINGER_MS = 100;
/**
 * Records of one batch for tiers. Without the bound, 4,000 deferrals a second would hold 400 records of the window,
 * and encode them in one turn.
 */
const TIER_BATCH = 256;

/**
 * Opens two sinks. Deferred deliveries are spread over tiers and partitions, so they linger longer: alone, each would
 * be a batch and half a request. Each sink may hold 64 MiB.
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
  // The membership of the sources already shows whether Kafka is there.
  scope.health.readiness('kafka sink', fault, false);
  // The broker refuses writes itself, for example with too few replicas in sync. Each restart would only attempt all
  // again.
  const refusal = () => prompt.health().refusal ?? waiting.health().refusal;
  scope.health.readiness('kafka writes', refusal);
  const publishPrompt = createPublishWithRetry(prompt, scope.log, stopping.signal);
  const send: Sink['send'] = (record, options) =>
    waiting.send({ ...record, topic: standIn(record.topic, missing()) }, options);
  const publishWaiting = createPublishWithRetry({ send }, scope.log, stopping.signal);
  return (record: OutgoingRecord) =>
    TIERS.has(record.topic) ? publishWaiting(record) : publishPrompt(record);
}
