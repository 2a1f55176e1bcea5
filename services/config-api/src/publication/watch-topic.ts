import { TOPICS } from '@webhooks/contracts';
import { openTableReader } from '@webhooks/kafka';
import type { Kafka, TableReader } from '@webhooks/kafka';
import { addCounter, addGauge, repeatUntilClose } from '@webhooks/runtime';
import type { Counter, ServiceScope } from '@webhooks/runtime';
import { ConfigurationCache } from './configuration-cache.js';
import { repairAll, repairOne } from './repair-topic.js';
import type { RepairPorts } from './repair-topic.js';
import type { Publisher } from './publish-configuration.js';

/** Interval of rounds. */
const ROUND_MS = 1_000;
/** Interval at which all documents are compared. */
const COMPARE_ALL_MS = 300_000;

export interface WatchTopicOptions {
  readonly kafka: Kafka;
  readonly scope: ServiceScope;
  /** Opens the ports for one round. */
  readonly ports: () => Omit<RepairPorts, 'topicState' | 'noteRepair'>;
  readonly markComplete: Publisher['markComplete'];
}

/**
 * Creates rounds of repairs, which run while the topic is read. Every round checks the divergences. All documents are
 * compared in the first round and every five minutes, and in every round until the mark is set.
 */
function createRounds(
  { scope, ports, markComplete }: WatchTopicOptions,
  repairs: Counter,
  reader: () => TableReader,
) {
  const cache = new ConfigurationCache();
  let compareAt = Number.NEGATIVE_INFINITY;
  let hasEnded = false;
  const isComplete = (): boolean => reader().hasRead(cache.complete?.entries());
  /**
   * Marks the topic as complete. A worker that starts without the mark waits, because it would discard events of
   * missing webhooks. No mark after the topic was recreated: these offsets belong to the old one.
   */
  const mark = async (): Promise<void> => {
    if (isComplete()) return;
    await reader().whenProved();
    if (!hasEnded && !isComplete()) await markComplete(reader().positions());
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    let repaired = 0;
    const all = { ...ports(), topicState: cache, noteRepair: () => void (repaired += 1) };
    for (const divergence of cache.divergences()) divergence.isSettled = await repairOne(divergence, all);
    const isDue = performance.now() >= compareAt || !isComplete();
    const isDone = isDue && (await repairAll(all, signal));
    if (isDone) compareAt = performance.now() + COMPARE_ALL_MS;
    repairs.inc(repaired);
    if (repaired > 0) scope.log.warn('the topic differed from the database and was repaired', { repaired });
    // After a repair a later round sets the mark, when the reader has read what was published.
    else if (isDone) await mark();
  };
  /** Called when the topic was recreated: these rounds compare the old one. */
  const end = (): void => void (hasEnded = true);
  return { cache, run, end };
}

/**
 * Reads the whole topic `webhooks.configurations` and publishes again what differs from the database. A record can be
 * missing, be followed by an older one, or predate a restore of the database. Kafka may become available later.
 */
export function watchTopic(options: WatchTopicOptions): void {
  const { kafka, scope } = options;
  const repairsHelp = 'Configurations published again because the topic differed from the database';
  const repairs = addCounter(scope.registry, 'config_api_topic_repairs_total', repairsHelp);
  let rounds: ReturnType<typeof createRounds>;
  let fault: Error | undefined;
  /** Starts rounds with an empty cache. */
  const begin = (): void => void (rounds = createRounds(options, repairs, () => reader));
  const open = (): TableReader => {
    begin();
    return openTableReader({
      kafka,
      topic: TOPICS.configurations,
      onRecord: (record) => rounds.cache.apply(record),
      onRestart: () => {
        rounds.end();
        begin();
      },
      onFatal: (error) => (fault = error),
    });
  };
  let reader = open();
  /** Reopens the reader after a fault that it cannot recover from, such as a topic that is not compacted. */
  const reopen = async (cause: Error): Promise<void> => {
    fault = undefined;
    await reader.close();
    reader = open();
    throw new Error('the topic of configurations cannot be read', { cause });
  };
  const work = async (signal: AbortSignal): Promise<void> => {
    if (fault) await reopen(fault);
    else if (reader.isFresh()) await rounds.run(signal);
  };
  repeatUntilClose({ name: 'comparing the topic with the database', everyMs: ROUND_MS, work }, scope);
  // Closed first: a round may wait for the reader while Kafka is away.
  scope.onClose('topic reader', () => reader.close());
  const help = 'Keys on the topic of configurations, as read by this process';
  addGauge(scope.registry, 'config_api_topic_keys', help, () => rounds.cache.size);
}
