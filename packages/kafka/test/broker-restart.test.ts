import { performance } from 'node:perf_hooks';
import { eventually, randomName } from '@webhooks/testkit';
import { openDelayedSource, openSink, openSource, openTableReader } from '../src/index.js';
import type { Kafka } from '../src/index.js';
import { closeAll, kafkaAt, newTopic } from './support/cluster.js';
import { balance, openMember } from './support/members.js';
import { ownBroker } from './support/own-broker.js';

let broker: Awaited<ReturnType<typeof ownBroker>>;
let kafka: Kafka;
beforeAll(async () => {
  broker = await ownBroker();
  kafka = kafkaAt(broker.engine.brokers);
});
afterAll(async () => {
  await closeAll();
  await broker.discard();
});

describe('kill -9 of the broker, and its return', () => {
  it('[idempotent producer reuses a sequence after an ambiguous failure] loses no acknowledged record, and the source goes on', async () => {
    const topic = await newTopic(kafka, 6);
    const groupId = randomName('group');
    const sink = await openSink({ kafka });
    const member = await openMember(kafka, { groupId, topic });
    const acknowledged: string[] = [];
    let sent = 0;
    const send = () => {
      const value = `${sent++}`;
      return sink
        .send({ topic, key: value, value }, { deadlineMs: 60_000 })
        .then(() => acknowledged.push(value));
    };
    const sends: Promise<unknown>[] = [];
    const load = setInterval(() => {
      for (let n = 0; n < 20; n += 1) sends.push(send());
    }, 5);
    await eventually(() => acknowledged.length > 500);
    broker.engine.kill();
    await eventually(() => (sink.health().lastError ?? '').length > 0);
    await broker.engine.restart();
    const atReturn = acknowledged.length;
    await eventually(() => acknowledged.length > atReturn + 500, { timeoutMs: 30_000 });
    clearInterval(load);
    await Promise.all(sends);
    expect(acknowledged).toHaveLength(sent);
    expect(sink.health()).toEqual({ pendingRecords: 0, pendingBytes: 0 });
    await eventually(
      () => {
        const { lost } = balance(member.handled, sent);
        expect({ lost, source: member.source.health() }).toMatchObject({ lost: 0 });
      },
      { timeoutMs: 30_000, intervalMs: 100 },
    );
    await eventually(() => member.source.health().joined && member.source.health().lag === 0, {
      timeoutMs: 20_000,
    });
    await sink.close();
    expect(await member.source.stop({ deadlineMs: 5_000 })).toMatchObject({ drained: true, committed: true });
  });

  it('[`commitOffsets` is a silent no-op once stopping began; errors outside `eachBatch` do not cause a rejoin] keeps its committable offset and commits it later', async () => {
    const topic = await newTopic(kafka, 2);
    const groupId = randomName('group');
    const sink = await openSink({ kafka });
    const member = await openMember(kafka, { groupId, topic });
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => sink.send({ topic, key: `${n}`, value: `${n}` })),
    );
    await eventually(() => member.handled.length === 100);
    broker.engine.kill();
    await eventually(() => member.source.health().lastError !== undefined);
    const stale = member.source.health().lastProgressAt;
    await broker.engine.restart();
    await eventually(() => member.source.health().lastProgressAt > stale, { timeoutMs: 20_000 });
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        sink.send({ topic, key: `${n}`, value: `${100 + n}` }, { deadlineMs: 30_000 }),
      ),
    );
    await eventually(() => member.handled.length >= 110, { timeoutMs: 20_000 });
    expect(await member.source.stop({ deadlineMs: 5_000 })).toMatchObject({ drained: true, committed: true });
    const next = await openMember(kafka, { groupId, topic });
    await sink.send({ topic, key: 'last', value: '110' });
    await eventually(() => next.handled.includes('110'));
    expect(next.handled).toEqual(['110']);
    expect(balance(member.handled, 110)).toEqual({ lost: 0, repeats: 0 });
    await next.source.stop({ deadlineMs: 5_000 });
    await sink.close();
  });

  it('a sink reports no fault after the outage, without a record that has to be sent', async () => {
    const topic = await newTopic(kafka, 1);
    const sink = await openSink({ kafka });
    await sink.send({ topic, key: 'a', value: '1' });
    broker.engine.kill();
    await expect(sink.send({ topic, key: 'a', value: '2' }, { deadlineMs: 500 })).rejects.toThrow(
      /no acknowledgement in time/,
    );
    expect(sink.health().lastError).toBeDefined();
    await broker.engine.restart();
    await eventually(() => sink.health().lastError === undefined, { timeoutMs: 20_000 });
    await sink.close();
  });

  it('a table reader is stale while the broker is down, and fresh afterwards', async () => {
    const topic = await newTopic(kafka, 2, { 'cleanup.policy': 'compact' });
    const sink = await openSink({ kafka });
    const rows = new Map<string, string>();
    const reader = openTableReader({
      kafka,
      topic,
      onRecord: ({ key, value }) => rows.set(String(key), String(value)),
    });
    await reader.whenFresh();
    broker.engine.kill();
    await eventually(() => !reader.isFresh());
    const fresh = reader.whenFresh();
    await broker.engine.restart();
    await fresh;
    expect(reader.isFresh()).toBe(true);
    await sink.send({ topic, key: 'a', value: '1' }, { deadlineMs: 30_000 });
    await reader.catchUp();
    expect(rows.get('a')).toBe('1');
    await reader.close();
    await sink.close();
  });

  it('hands out nothing during the outage while its handler has no capacity, and continues after it', async () => {
    const topic = await newTopic(kafka, 2);
    const sink = await openSink({ kafka });
    let isFull = true;
    const member = await openMember(kafka, {
      groupId: randomName('group'),
      topic,
      hasCapacity: () => !isFull,
    });
    await Promise.all(Array.from({ length: 50 }, (_, n) => sink.send({ topic, key: `${n}`, value: `${n}` })));
    broker.engine.kill();
    await eventually(() => member.source.health().lastError !== undefined);
    await broker.engine.restart();
    await eventually(() => member.source.health().lag === 50, { timeoutMs: 20_000 });
    expect(member.handled).toEqual([]);
    isFull = false;
    member.source.resume();
    await eventually(() => new Set(member.handled).size === 50, { timeoutMs: 20_000 });
    await member.source.stop({ deadlineMs: 5_000 });
    await sink.close();
  });

  it('[a retriable crash restarts for ever with green health checks] calls onFatal when it was no member for too long', async () => {
    const topic = await newTopic(kafka, 1);
    const fatal: Error[] = [];
    const source = await openSource({
      kafka,
      groupId: randomName('group'),
      topics: [topic],
      window: { maxInFlight: 1, maxInFlightBytes: 1 },
      fatalAfterMs: 3_000,
      handle: () => Promise.resolve(),
      onFatal: (error) => fatal.push(error),
    });
    broker.engine.kill();
    await eventually(() => fatal.length === 1, { timeoutMs: 25_000 });
    expect(source.health().joined).toBe(false);
    await source.stop({ deadlineMs: 500 });
    await broker.engine.restart();
  });

  it('stops in bounded time while the broker is down, and reports what it could not do', async () => {
    const topic = await newTopic(kafka, 2);
    const sink = await openSink({ kafka });
    const member = await openMember(kafka, { groupId: randomName('group'), topic });
    const delayed = await openDelayedSource({
      kafka,
      groupId: randomName('group'),
      tiers: [{ topic, delayMs: 10 }],
      window: { maxInFlight: 10, maxInFlightBytes: 1_000_000 },
      dueAt: () => 0,
      release: () => Promise.resolve(),
      move: () => Promise.resolve(),
    });
    await sink.send({ topic, key: 'a', value: '0' });
    await eventually(() => member.handled.length === 1);
    broker.engine.kill();
    const begin = performance.now();
    const [report] = await Promise.all([
      member.source.stop({ deadlineMs: 1_000 }),
      delayed.stop({ deadlineMs: 1_000 }),
      sink.close({ deadlineMs: 1_000 }),
    ]);
    expect(performance.now() - begin).toBeLessThan(4_000);
    expect(report.drained).toBe(true);
    await broker.engine.restart();
  });
});
