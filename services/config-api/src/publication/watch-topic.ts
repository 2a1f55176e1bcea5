import { TOPICS } from '@webhooks/contracts';
import { openTableReader } from '@webhooks/kafka';
import type { Kafka, TableReader } from '@webhooks/kafka';
import { addCounter, addGauge, repeat } from '@webhooks/runtime';
import type { Counter, ServiceScope } from '@webhooks/runtime';
import { ConfigurationCache } from './configuration-cache.js';
import { repairAll, repairOne } from './repair-topic.js';
import type { RepairPorts } from './repair-topic.js';
import type { Publisher } from './publish-configuration.js';

const ROUND_MS = 1_000;
const COMPARE_ALL_MS = 300_000;

export interface WatchTopicOptions {
  readonly kafka: Kafka;
  readonly scope: ServiceScope;
  /** Opens the ports for one round. */
  readonly ports: () => Omit<RepairPorts, 'onTopic' | 'noteRepair'>;
  readonly markComplete: Publisher['markComplete'];
}

/**
 * Repairs in rounds while the topic is read: divergences in every round, and all documents in the first round and
 * every five minutes.
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
   * missing webhooks. The offsets of a mark are wrong in a topic that was made anew.
   */
  const mark = async (): Promise<void> => {
    if (!hasEnded && !isComplete()) await markComplete(reader().positions());
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    let repaired = 0;
    const all = { ...ports(), onTopic: cache, noteRepair: () => void (repaired += 1) };
    for (const divergence of cache.divergences()) divergence.isSettled = await repairOne(divergence, all);
    const isDue = performance.now() >= compareAt || !isComplete();
    const isDone = isDue && (await repairAll(all, signal));
    if (isDone) compareAt = performance.now() + COMPARE_ALL_MS;
    repairs.inc(repaired);
    if (repaired > 0) scope.log.warn('the topic differed from the database and was repaired', { repaired });
    // What was just published is read before the mark is set.
    else if (isDone) await mark();
  };
  /** The topic was made anew, so these comparisons concern the old one. */
  const end = (): void => void (hasEnded = true);
  return { cache, run, end };
}

/**
 * Reads the whole topic `webhooks.configurations` and publishes again what differs from the database. A record can be
 * missing, overtaken by an older one, or stem from a restored database. Kafka may come later.
 */
export function watchTopic(options: WatchTopicOptions): void {
  const { kafka, scope } = options;
  const repaired = 'Configurations that the topic said differently from the database';
  const repairs = addCounter(scope.registry, 'config_api_topic_repairs_total', repaired);
  let rounds: ReturnType<typeof createRounds>;
  let fault: Error | undefined;
  /** Begins without what was read before. */
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
  /** After a fault that the reader cannot mend, such as a missing right. */
  const reopen = async (cause: Error): Promise<void> => {
    fault = undefined;
    await reader.close();
    reader = open();
    throw new Error('the topic of configurations cannot be read', { cause });
  };
  const watching = repeat({
    name: 'comparing the topic with the database',
    everyMs: ROUND_MS,
    log: scope.log,
    work: async (signal) => {
      if (fault) await reopen(fault);
      else if (reader.isFresh()) await rounds.run(signal);
    },
  });
  scope.onClose('topic watch', async () => {
    await watching.stop();
    await reader.close();
  });
  const help = 'Keys on the topic of configurations as this process sees it';
  addGauge(scope.registry, 'config_api_topic_keys', help, () => rounds.cache.size);
}
