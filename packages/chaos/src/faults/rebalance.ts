import { setTimeout as delay } from 'node:timers/promises';
import { RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import { NotNow } from '../fault.js';
import type { Fault } from '../fault.js';
import { chaosKafka } from '../world/kafka-tools.js';

/** Group of the workers → what its members read. */
const TOPICS_OF: Readonly<Record<string, readonly string[]>> = {
  'delivery-worker.events': [TOPICS.events],
  'delivery-worker.deliveries': [TOPICS.deliveries],
  'delivery-worker.retries': RETRY_TIERS.map(({ topic }) => topic),
};
const STAYS_MS = 1_500;
const AWAY_MS = 1_000;

/** A member that takes its share of the partitions, does nothing with them, commits nothing, and leaves. */
async function visit(brokers: readonly string[], groupId: string): Promise<void> {
  const consumer = chaosKafka(brokers).consumer({ groupId, sessionTimeout: 10_000, heartbeatInterval: 500 });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [...(TOPICS_OF[groupId] ?? [])] });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: () => Promise.resolve(),
    });
    await delay(STAYS_MS);
  } finally {
    await consumer.disconnect();
  }
}

/** A member comes and goes every few seconds: with each coming and going all partitions change hands. */
const rebalance: Fault = {
  name: 'rebalance',
  lane: 'system',
  weight: 1,
  targets: ['delivery-worker.events', 'delivery-worker.deliveries', 'delivery-worker.retries'],
  lasts: [3_000, 30_000],
  alone: true,
  begin: (groupId, { stack }) => {
    let wanted = true;
    const comeAndGo = async (): Promise<void> => {
      while (wanted) {
        await visit(stack.description().kafkaBrokers, groupId);
        await delay(AWAY_MS);
      }
    };
    const coming = comeAndGo();
    // Whoever waits for the end is told; until then a failure must not end the process.
    coming.catch(() => undefined);
    return Promise.resolve(async () => {
      wanted = false;
      await coming.catch((error: unknown) => {
        throw new NotNow(`the visitor could not come: ${String(error)}`);
      });
    });
  },
};

export default rebalance;
