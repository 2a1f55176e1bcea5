import { performance } from 'node:perf_hooks';
import { randomName } from '@webhooks/testkit';
import { fetchEndOffsets, openSink, RecordRefused } from '../../src/index.js';
import { closeAll, kafkaAt, newTopic, sharedKafka } from '../support/cluster.js';
import { readAll } from '../support/read-all.js';

const kafka = sharedKafka();
afterAll(closeAll);

async function end(topic: string): Promise<number> {
  return [...(await fetchEndOffsets(kafka, topic)).values()].reduce((sum, offset) => sum + offset, 0);
}

describe('sink', () => {
  it('writes key, value, headers and null values as other clients read them', async () => {
    const topic = await newTopic(kafka, 1);
    const sink = await openSink({ kafka });
    await sink.send({ topic, key: 'k', value: 'välue', headers: { a: 'ä', b: Buffer.from([0x31]) } });
    await sink.send({ topic, key: 'gone', value: null });
    await sink.send({ topic, partition: 0, value: Buffer.from('no key') });
    await sink.close();
    expect(await readAll(kafka, topic, 3)).toEqual([
      { partition: 0, offset: 0, key: 'k', value: 'välue', headers: { a: 'ä', b: '1' } },
      { partition: 0, offset: 1, key: 'gone', value: undefined, headers: {} },
      { partition: 0, offset: 2, key: undefined, value: 'no key', headers: {} },
    ]);
  });

  it('[no linger: one `send` is one request] batches concurrent sends and resolves each of them', async () => {
    const topic = await newTopic(kafka, 12);
    const sink = await openSink({ kafka });
    const sends = Array.from({ length: 5_000 }, (_, n) =>
      sink.send({ topic, key: `key-${n}`, value: `v${n}` }),
    );
    await Promise.all(sends);
    expect(await end(topic)).toBe(5_000);
    expect(sink.health()).toEqual({ pendingRecords: 0, pendingBytes: 0 });
    await sink.close();
  });

  it('chooses the partition of a key as Java clients do', async () => {
    // Expected values computed with the Java client's Utils.toPositive(Utils.murmur2(key)) % 12 (KIP-480's default).
    const topic = await newTopic(kafka, 12);
    const sink = await openSink({ kafka });
    const keys = [
      '21',
      'foobar',
      'a-little-bit-long-string',
      'a-little-bit-longer-string',
      'lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8',
    ];
    await Promise.all(keys.map((key) => sink.send({ topic, key, value: key })));
    await sink.close();
    const hashes = new Map([
      ['21', -973932308],
      ['foobar', -790332482],
      ['a-little-bit-long-string', -985981536],
      ['a-little-bit-longer-string', -1486304829],
      ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ]);
    for (const { key, partition } of await readAll(kafka, topic, 5)) {
      expect(partition).toBe(((hashes.get(key ?? '') ?? 0) & 0x7fffffff) % 12);
    }
  });

  it('[keyless messages are re-partitioned on a partial retry] refuses a record with neither key nor partition', async () => {
    const sink = await openSink({ kafka });
    await expect(sink.send({ topic: 'any', value: 'x' })).rejects.toThrow(/needs a key or a partition/);
    await sink.close();
  });

  it('rejects the one record that is too large, and none of its neighbours', async () => {
    const topic = await newTopic(kafka, 1, { 'max.message.bytes': '20000' });
    const sink = await openSink({ kafka });
    const sends = Array.from({ length: 40 }, (_, n) =>
      sink.send({ topic, key: `${n}`, value: Buffer.alloc(n === 17 ? 30_000 : 100) }),
    );
    const results = await Promise.allSettled(sends);
    const refused = results.flatMap((result, n) =>
      result.status === 'rejected' ? [[n, result.reason]] : [],
    );
    expect(refused).toEqual([[17, expect.any(RecordRefused)]]);
    expect(await end(topic)).toBe(39);
    await sink.close();
  });

  it('continues to write to old and new topics when one of its topics was deleted', async () => {
    const [deleted, known, fresh] = [
      await newTopic(kafka, 1),
      await newTopic(kafka, 1),
      await newTopic(kafka, 1),
    ];
    const sink = await openSink({ kafka });
    for (const topic of [deleted, known]) await sink.send({ topic, partition: 0, value: 'before' });
    await kafka.admin().deleteTopics({ topics: [deleted] });
    for (const topic of [known, fresh]) await sink.send({ topic, partition: 0, value: 'after' });
    await expect(
      sink.send({ topic: deleted, partition: 0, value: 'gone' }, { deadlineMs: 2_000 }),
    ).rejects.toThrow(/do not know the topic/);
    await sink.close();
  });

  it('rejects a record when more bytes wait than the bound allows', async () => {
    const sink = await openSink({ kafka: kafkaAt(['127.0.0.1:1']), maxPendingBytes: 40_000 });
    const sends = Array.from({ length: 20 }, () =>
      sink
        .send({ topic: 't', key: 'k', value: Buffer.alloc(1_000) }, { deadlineMs: 300 })
        .catch((error: unknown) => error),
    );
    const errors = await Promise.all(sends);
    expect(errors.filter((error) => /bytes are already pending/.test(String(error)))).toHaveLength(10);
    expect(errors.filter((error) => /no acknowledgement in time/.test(String(error)))).toHaveLength(10);
    await sink.close();
  });

  it('[while the broker is away `send` rejects after 4–5 s] rejects at its caller’s deadline and not before', async () => {
    const sink = await openSink({ kafka: kafkaAt(['127.0.0.1:1']) });
    const begin = performance.now();
    await expect(sink.send({ topic: 't', key: 'k', value: 'v' }, { deadlineMs: 1_200 })).rejects.toThrow(
      /no acknowledgement in time/,
    );
    expect(performance.now() - begin).toBeGreaterThan(1_190);
    expect(performance.now() - begin).toBeLessThan(1_600);
    await sink.close();
  });

  it('[auto topic creation on] never creates a topic by sending to it', async () => {
    const topic = randomName('absent');
    const sink = await openSink({ kafka });
    await expect(sink.send({ topic, key: 'k', value: 'v' }, { deadlineMs: 500 })).rejects.toThrow(
      /no acknowledgement in time/,
    );
    await expect(fetchEndOffsets(kafka, topic, { deadlineMs: 300 })).rejects.toThrow(/end offsets/);
    await sink.close();
  });

  it('waits in `close` for what is pending, and takes nothing afterwards', async () => {
    const topic = await newTopic(kafka, 2);
    const sink = await openSink({ kafka, lingerMs: 50 });
    const sends = Array.from({ length: 10 }, (_, n) => sink.send({ topic, key: `${n}`, value: 'v' }));
    await sink.close();
    await Promise.all(sends);
    expect(await end(topic)).toBe(10);
    await expect(sink.send({ topic, key: 'k', value: 'v' })).rejects.toThrow(/the sink is closed/);
  });
});
