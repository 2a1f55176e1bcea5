import { TOPIC_TABLE, configurationKey, encodeEvent } from '@webhooks/contracts';
import { createKafkaClient, readUnhandled, withAdmin } from '@webhooks/testkit/account';
import type { Admin, Transaction } from 'kafkajs';
import { buildEvent, eventually, randomName } from '@webhooks/testkit';
import type { End } from '../fault.js';
import { planConfigurations } from './configurations.js';
import { BACK_DEADLINE_MS } from './processes.js';

/** Other faults may hit Kafka meanwhile: then it is tried again. */
const AGAIN = { timeoutMs: BACK_DEADLINE_MS, message: 'Kafka and config-api do their part' };

/**
 * Gives one event, which a webhook waits for and no journal has, to a topic in a transaction that stays open. Whoever reads it
 * all the same delivers what was never sent, or rejects it. Returns how to abort it.
 */
export async function holdTransaction(brokers: readonly string[], topic: string): Promise<End> {
  const kafka = createKafkaClient(brokers, 'chaos-stranger');
  const transactionalId = randomName('stranger');
  /** Whoever takes the id up aborts what was left open under it (KIP-98). */
  const takeUp = async (work: (transaction: Transaction) => Promise<unknown>): Promise<void> => {
    const producer = kafka.producer({ transactionalId, idempotent: true });
    try {
      await producer.connect();
      await work(await producer.transaction());
    } finally {
      await producer.disconnect();
    }
  };
  const value = encodeEvent(buildEvent({ tenantId: 'acme', eventType: 'PIX_DYNAMIC_PAID' }));
  const messages = [{ key: transactionalId, value }];
  await eventually(() => takeUp((transaction) => transaction.send({ topic, messages })), AGAIN);
  return () => eventually(() => takeUp(() => Promise.resolve()), AGAIN);
}

/** Deletes the topic of webhooks. Returns how to make it anew, empty; that resolves when each webhook is on it again. */
export async function deleteConfigurations(brokers: readonly string[], topic: string): Promise<End> {
  const topics = TOPIC_TABLE.filter(({ name }) => name === topic).map(({ partitions, configs }) => ({
    ...{ topic, numPartitions: partitions },
    configEntries: Object.entries(configs).map(([name, value]) => ({ name, value })),
  }));
  const fill = async (): Promise<void> => {
    await withAdmin(brokers, (admin) => admin.createTopics({ topics }));
    const keys = new Set<string>();
    await readUnhandled(brokers, { topics: [topic] }, ({ message }) => keys.add(String(message.key)));
    const wanted = planConfigurations().map(({ tenantId, ref }) => configurationKey(tenantId, ref));
    if (!wanted.every((key) => keys.has(key))) throw new Error(`${topic} lacks webhooks`);
  };
  const clear = async (admin: Admin): Promise<void> => {
    if ((await admin.listTopics()).includes(topic)) await admin.deleteTopics({ topics: [topic] });
  };
  await eventually(() => withAdmin(brokers, clear), AGAIN);
  return () => eventually(fill, AGAIN);
}
