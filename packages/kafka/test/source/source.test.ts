import { eventually, randomName } from '@webhooks/testkit';
import { fetchEndOffsets, openSource, type KafkaRecord } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka, sinkOn } from '../support/cluster.js';
import { collect, WINDOW } from '../support/collect.js';
import { committed } from '../support/committed.js';

const kafka = sharedKafka();
const sink = await sinkOn(kafka);
afterAll(closeAll);

async function fill(topic: string, count: number, size = 10): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, n) =>
      sink.send({
        topic,
        key: `key-${n}`,
        value: `${n}`.padEnd(size),
        headers: { n: `${n}` },
      }),
    ),
  );
}

const sum = (offsets: ReadonlyMap<number, number>) =>
  [...offsets.values()].reduce((total, offset) => total + offset, 0);
const numbers = (values: readonly string[]) => values.map(Number).sort((a, b) => a - b);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('source', () => {
  it('hands out each record once, whole, from all partitions and topics, and commits', async () => {
    const topics = [await newTopic(kafka, 3), await newTopic(kafka, 2)];
    const [first = '', second = ''] = topics;
    await fill(first, 1_000);
    await fill(second, 10);
    const groupId = randomName('group');
    const { source, records } = await collect(kafka, { groupId, topics });
    await eventually(() => records.length >= 1_010);
    const [one] = records.filter(({ topic, key }) => topic === first && key?.toString() === 'key-7');
    expect(String(one?.value)).toBe('7'.padEnd(10));
    expect(String(one?.headers['n'])).toBe('7');
    await eventually(async () => sum(await committed(kafka, groupId, first)) === 1_000);
    expect(records).toHaveLength(1_010);
    expect(source.health()).toMatchObject({
      joined: true,
      lag: 0,
      inFlight: 0,
      retrying: 0,
    });
    await source.stop({ deadlineMs: 1_000 });
  });

  it('[fromBeginning: false skips on out-of-range and for new partitions] begins a new group at the earliest record', async () => {
    const topic = await newTopic(kafka, 1);
    await fill(topic, 3);
    const { source, records } = await collect(kafka, { groupId: randomName('group'), topics: [topic] });
    await eventually(() => records.length === 3);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('[one fetcher for each broker; the next fetch waits for all batches of the last one] goes on while one record hangs', async () => {
    const topic = await newTopic(kafka, 2);
    await fill(topic, 5_000, 300);
    let hanging: (() => void) | undefined;
    const groupId = randomName('group');
    let handled = 0;
    const source = await openSource({
      kafka,
      groupId,
      topics: [topic],
      window: { maxInFlight: 100, maxInFlightBytes: 1_000_000 },
      handle: async (record) => {
        handled += 1;
        if (record.offset === 0 && record.partition === 0)
          await new Promise<void>((resolve) => (hanging = resolve));
      },
    });
    await eventually(() => handled === 5_000);
    await eventually(async () => (await committed(kafka, groupId, topic)).get(1) !== -1);
    expect((await committed(kafka, groupId, topic)).get(0)).toBeLessThanOrEqual(0);
    expect(source.health().inFlight).toBe(1);
    hanging?.();
    await eventually(async () => sum(await committed(kafka, groupId, topic)) === 5_000);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('has no more records and bytes in flight than its window allows', async () => {
    const topic = await newTopic(kafka, 4);
    await fill(topic, 400, 1_000);
    const waiting: (() => void)[] = [];
    let most = 0;
    let handled = 0;
    const source = await openSource({
      kafka,
      groupId: randomName('group'),
      topics: [topic],
      window: { maxInFlight: 50, maxInFlightBytes: 20_000 },
      handle: () =>
        new Promise<void>((resolve) => {
          handled += 1;
          waiting.push(resolve);
        }),
    });
    await eventually(() => waiting.length > 15);
    while (handled < 400 || waiting.length > 0) {
      await eventually(() => waiting.length > 0);
      most = Math.max(most, source.health().inFlight);
      waiting.shift()?.();
    }
    expect(most).toBeGreaterThan(15);
    expect(most).toBeLessThanOrEqual(20); // 20,000 bytes and one more record of about 1,020
    await source.stop({ deadlineMs: 1_000 });
  });

  it('bounds what a crash would repeat: stops `maxSpan` offsets ahead of the committable offset', async () => {
    const topic = await newTopic(kafka, 1);
    await fill(topic, 1_000);
    let handled = 0;
    let release: (() => void) | undefined;
    const source = await openSource({
      kafka,
      groupId: randomName('group'),
      topics: [topic],
      window: { maxInFlight: 50, maxInFlightBytes: 1_000_000, maxSpan: 300 },
      handle: async ({ offset }) => {
        handled += 1;
        if (offset === 10) await new Promise<void>((resolve) => (release = resolve));
      },
    });
    await eventually(() => handled === 310);
    expect(source.health().inFlight).toBe(1);
    release?.();
    await eventually(() => handled === 1_000);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('[a `TypeError` in the handler kills the consumer] tries a record again whose handler throws or rejects, and reports it', async () => {
    const topic = await newTopic(kafka, 1);
    await fill(topic, 20);
    const groupId = randomName('group');
    const calls = new Map<number, number>();
    const source = await openSource({
      kafka,
      groupId,
      topics: [topic],
      window: { maxInFlight: 10, maxInFlightBytes: 1_000_000 },
      handle: ({ offset }) => {
        const call = (calls.get(offset) ?? 0) + 1;
        calls.set(offset, call);
        if (offset === 5 && call < 3) throw new TypeError('cannot read properties');
        return offset === 6 && call < 2 ? Promise.reject(new Error('not handled')) : Promise.resolve();
      },
    });
    await eventually(() => source.health().retrying > 0);
    expect(source.health().lastError).toMatch(/cannot read properties|not handled/);
    await eventually(() => calls.get(5) === 3 && calls.get(6) === 2);
    await eventually(async () => sum(await committed(kafka, groupId, topic)) === 20);
    expect(calls.get(7)).toBe(1);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('stops in order: a second instance takes over without a repeat', async () => {
    const topic = await newTopic(kafka, 4);
    await fill(topic, 2_000, 100);
    const groupId = randomName('group');
    const first: string[] = [];
    const handle = (into: string[]) => async (record: KafkaRecord) => {
      await new Promise((resolve) => setTimeout(resolve, 5)); // so that the stop comes in the middle
      into.push(record.value?.toString() ?? '');
    };
    const window = { maxInFlight: 20, maxInFlightBytes: 1_000_000 };
    const one = await openSource({ kafka, groupId, topics: [topic], window, handle: handle(first) });
    await eventually(() => first.length > 300);
    expect(await one.stop({ deadlineMs: 5_000 })).toEqual({ drained: true, committed: true });
    const handledByFirst = first.length;
    expect(handledByFirst).toBeLessThan(2_000);
    const second: string[] = [];
    const two = await openSource({ kafka, groupId, topics: [topic], window, handle: handle(second) });
    await eventually(() => first.length + second.length >= 2_000);
    await two.stop({ deadlineMs: 5_000 });
    expect(first).toHaveLength(handledByFirst);
    expect(numbers([...first, ...second])).toEqual(upTo(2_000));
  });

  it('[the runner skips waiting in `stop()` when NODE_ENV=test] drains under jest too, and ends at the deadline', async () => {
    const topic = await newTopic(kafka, 1);
    await fill(topic, 5);
    let begun = 0;
    const source = await openSource({
      kafka,
      groupId: randomName('group'),
      topics: [topic],
      window: { maxInFlight: 2, maxInFlightBytes: 1_000_000 },
      handle: () => {
        begun += 1;
        return new Promise(() => undefined);
      },
    });
    await eventually(() => begun === 2);
    const begin = performance.now();
    expect(await source.stop({ deadlineMs: 500 })).toEqual({
      drained: false,
      committed: true,
    });
    expect(performance.now() - begin).toBeGreaterThan(450);
    expect(performance.now() - begin).toBeLessThan(1_600);
    expect(begun).toBe(2);
  });

  it('hands out nothing while its handler has no capacity', async () => {
    const topic = await newTopic(kafka, 1);
    let isFull = true;
    const { source, records } = await collect(kafka, {
      groupId: randomName('group'),
      topics: [topic],
      window: { ...WINDOW, hasCapacity: () => !isFull },
    });
    await fill(topic, 10);
    await eventually(() => source.health().lag === 10);
    expect(records).toHaveLength(0);
    isFull = false;
    source.resume();
    await eventually(() => records.length === 10);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('reports the lag by partition', async () => {
    const topic = await newTopic(kafka, 2);
    await fill(topic, 100);
    const { source } = await collect(kafka, {
      groupId: randomName('group'),
      topics: [topic],
      handle: () => new Promise(() => undefined),
    });
    const ends = await fetchEndOffsets(kafka, topic);
    await eventually(() => source.health().lag === 100);
    expect(source.health().lagByPartition).toEqual({
      [`${topic}/0`]: ends.get(0),
      [`${topic}/1`]: ends.get(1),
    });
    await source.stop({ deadlineMs: 0 });
  });
});
