import { TOPICS } from '@webhooks/contracts';
import { openTableReader } from '@webhooks/kafka';
import type { Kafka, TableReader } from '@webhooks/kafka';
import { Counter, Gauge, repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { repairAll, repairKey } from './repair-topic.js';
import type { RepairPorts } from './repair-topic.js';
import { TopicPicture } from './topic-picture.js';

const ROUND_MS = 1_000;
const COMPARE_ALL_MS = 300_000;
/** A picture that is not proved to be at the end for so long is not compared with anything. */
const STALE_MS = 5_000;

export interface WatchTopicOptions {
  readonly kafka: Kafka;
  readonly scope: ServiceScope;
  /** The ports for one round. */
  readonly ports: () => Omit<RepairPorts, 'lastOf'>;
}

const isFresh = (reader: TableReader): boolean => performance.now() - reader.freshAt() <= STALE_MS;

async function repairDoubts(picture: TopicPicture, ports: RepairPorts): Promise<number> {
  let repaired = 0;
  for (const key of picture.doubts()) {
    const last = picture.lastOf(key);
    const repair = await repairKey(key, ports);
    if (repair !== 'failed') picture.settle(key, last);
    if (repair === 'repaired') repaired += 1;
  }
  return repaired;
}

/** One round of repairs: what became doubtful, and at the first round and every five minutes all documents. */
function createRound({ scope, ports }: WatchTopicOptions, picture: TopicPicture) {
  const repairs = new Counter({
    name: 'config_api_topic_repairs_total',
    help: 'Configurations that the topic said differently from the database',
    registers: [scope.registry],
  });
  let compareAt = Number.NEGATIVE_INFINITY;
  return async (reader: TableReader, signal: AbortSignal): Promise<void> => {
    if (!isFresh(reader)) return;
    const all = { ...ports(), lastOf: (key: string) => picture.lastOf(key) };
    let repaired = await repairDoubts(picture, all);
    if (performance.now() >= compareAt) {
      const count = await repairAll(all, signal);
      repaired += count.repaired;
      if (count.failed === 0) compareAt = performance.now() + COMPARE_ALL_MS;
    }
    repairs.inc(repaired);
    if (repaired > 0) scope.log.warn('the topic differed from the database and was repaired', { repaired });
  };
}

/** The reader, opened when it is first needed and again after a fault that it cannot mend by itself (no right to read). */
function createReaderSlot({ kafka }: WatchTopicOptions, picture: TopicPicture) {
  let reader: TableReader | undefined;
  let fault: Error | undefined;
  const close = async (): Promise<void> => {
    const closing = reader;
    reader = undefined;
    await closing?.close();
  };
  return {
    close,
    open: async (): Promise<TableReader> => {
      if (fault) {
        const cause = fault;
        fault = undefined;
        await close();
        throw new Error('the topic of configurations cannot be read', { cause });
      }
      reader ??= await openTableReader({
        kafka,
        topic: TOPICS.configurations,
        onRecord: (record) => picture.apply(record),
        onFatal: (error) => (fault = error),
      });
      return reader;
    },
  };
}

/**
 * Reads the whole topic `webhooks.configurations` and publishes again what it says differently from the database: a record
 * that was overtaken by an older one, is missing, or stems from a database that was restored. Kafka may come later.
 */
export function watchTopic(options: WatchTopicOptions): void {
  const { scope } = options;
  const picture = new TopicPicture();
  const slot = createReaderSlot(options, picture);
  const round = createRound(options, picture);
  const watching = repeat({
    name: 'comparing the topic with the database',
    everyMs: ROUND_MS,
    log: scope.log,
    work: async (signal) => round(await slot.open(), signal),
  });
  scope.onClose('topic watch', async () => {
    await watching.stop();
    await slot.close();
  });
  new Gauge({
    name: 'config_api_topic_keys',
    help: 'Keys on the topic of configurations as this process sees it',
    registers: [scope.registry],
    collect() {
      this.set(picture.size);
    },
  });
}
