import { jest } from '@jest/globals';
import { eventually, randomName } from '@webhooks/testkit';
import { PartitionTracker } from '../../src/source/partition-tracker.js';
import { closeAll, newTopic, sharedKafka, sinkOn } from '../support/cluster.js';
import { collect } from '../support/collect.js';
import { openTransaction } from '../support/open-transaction.js';

const kafka = sharedKafka();
afterAll(closeAll);

const AGE_MS = 1_000;

describe('records that no fetch brings', () => {
  it('grow older behind an open transaction of a foreign producer, and are read after its end', async () => {
    const topic = await newTopic(kafka, 1);
    const { source, values } = await collect(kafka, { groupId: randomName('group'), topics: [topic] });
    const abort = await openTransaction(kafka.brokers, { topic, key: 'stranger', value: 'open' });
    await (await sinkOn(kafka)).send({ topic, key: 'a', value: 'accepted' });
    await eventually(() => source.health().oldestAgeMs > AGE_MS, { timeoutMs: 10_000 });
    expect(source.health().oldestAgeByTopic[topic]).toBeGreaterThan(AGE_MS);
    await abort();
    await eventually(() => source.health().oldestAgeMs === 0);
    expect(values()).toEqual(['accepted']);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('grow older while their partition cannot be fetched', async () => {
    const topic = await newTopic(kafka, 1);
    const { source, values } = await collect(kafka, { groupId: randomName('group'), topics: [topic] });
    jest.spyOn(PartitionTracker.prototype, 'accept').mockReturnValue();
    await (await sinkOn(kafka)).send({ topic, key: 'a', value: 'accepted' });
    await eventually(() => source.health().oldestAgeMs > AGE_MS && source.health().lag === 1, {
      timeoutMs: 10_000,
    });
    jest.restoreAllMocks();
    await eventually(() => values().length === 1 && source.health().oldestAgeMs === 0);
    await source.stop({ deadlineMs: 1_000 });
  });
});
