import { eventually, randomName } from '@webhooks/testkit';
import { closeAll, newTopic, sharedKafka } from './support/cluster.js';
import { collect } from './support/collect.js';
import { committed } from './support/committed.js';
import { itWithForeign, produceForeign, PRODUCE, TRANSACTIONS } from './support/foreign-producer.js';
import { fetchEndOffsets } from '../src/index.js';

const kafka = sharedKafka();
afterAll(closeAll);

const sum = (offsets: ReadonlyMap<number, number>) =>
  [...offsets.values()].reduce((total, offset) => total + offset, 0);

describe('records of other clients (librdkafka)', () => {
  itWithForeign.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'])(
    'are read when packed with %s',
    async (codec) => {
      const topic = await newTopic(kafka, 2);
      await produceForeign(PRODUCE, [kafka.brokers.join(), topic, codec, '2000', '0', '300']);
      const { source, records } = await collect(kafka, { groupId: randomName('group'), topics: [topic] });
      await eventually(() => records.length === 2_000);
      await source.stop({ deadlineMs: 2_000 });
      expect(records.filter(({ undecodable }) => undecodable !== undefined)).toEqual([]);
      const expected = Array.from({ length: 2_000 }, (_, n) => `${n} ${codec} `.padEnd(300, 'x'));
      expect(records.map(({ value }) => value?.toString()).sort()).toEqual(expected.sort());
      expect(records.every(({ key, headers }) => headers['n']?.toString() === key?.toString())).toBe(true);
    },
  );

  itWithForeign(
    '[`eachBatch` is not called for a batch that is empty after filtering] aborted ones never arrive, and the lag reads 0 at the end',
    async () => {
      const topic = await newTopic(kafka, 1);
      const brokers = kafka.brokers.join();
      const groupId = randomName('group');
      await Promise.all([
        produceForeign(TRANSACTIONS, [
          brokers,
          topic,
          randomName('one'),
          'c5',
          'a3',
          'c2',
          'a40',
          'a1',
          'c1',
        ]),
        produceForeign(TRANSACTIONS, [brokers, topic, randomName('two'), 'a3', 'a7', 'c9', 'a2']),
      ]);
      const { source, values } = await collect(kafka, { groupId, topics: [topic] });
      await eventually(() => values().length >= 17);
      await eventually(
        async () => sum(await committed(kafka, groupId, topic)) === sum(await fetchEndOffsets(kafka, topic)),
      );
      expect(values().filter((value) => value.includes('aborted'))).toEqual([]);
      expect(values()).toHaveLength(17);
      expect(source.health().lag).toBe(0);
      await produceForeign(TRANSACTIONS, [brokers, topic, randomName('three'), 'a4']);
      await eventually(
        async () => sum(await committed(kafka, groupId, topic)) === sum(await fetchEndOffsets(kafka, topic)),
      );
      expect(values()).toHaveLength(17);
      await source.stop({ deadlineMs: 2_000 });
    },
  );

  itWithForeign('reads a batch that is larger than one fetch asks for, beside a busy partition', async () => {
    const topic = await newTopic(kafka, 2, { 'max.message.bytes': '4194304' });
    const script = `
import sys
from confluent_kafka import Producer
p = Producer({'bootstrap.servers': sys.argv[1], 'message.max.bytes': 4000000, 'linger.ms': 1})
for n in range(400):
    p.produce(sys.argv[2], partition=0, value='s' * 5000)
p.produce(sys.argv[2], partition=1, value='l' * 3000000)
p.produce(sys.argv[2], partition=1, value='after')
p.produce(sys.argv[2], partition=0, value='l' * 2000000)
assert p.flush(30) == 0
`;
    await produceForeign(script, [kafka.brokers.join(), topic]);
    const { source, records } = await collect(kafka, { groupId: randomName('group'), topics: [topic] });
    await eventually(() => records.length === 403);
    expect(records.filter(({ size }) => size > 1_000_000)).toHaveLength(2);
    await source.stop({ deadlineMs: 2_000 });
  });
});
