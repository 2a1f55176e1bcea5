import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, randomName } from '@webhooks/testkit';
import { openDelayedSource, type DelayedSourceOptions, type KafkaRecord } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka, sinkOn } from '../support/cluster.js';
import { committed } from '../support/committed.js';

const kafka = sharedKafka();
const sink = await sinkOn(kafka);
afterAll(closeAll);

const LOG_APPEND_TIME = { 'message.timestamp.type': 'LogAppendTime' };
const tierTopic = (partitions = 1) => newTopic(kafka, partitions, LOG_APPEND_TIME);

function wait(topic: string, key: string, due: number): Promise<void> {
  return sink.send({ topic, key, value: `value of ${key}`, headers: { 'due-at': `${due}` } });
}

const dueAt = (record: KafkaRecord): number | undefined => {
  const header = record.headers['due-at'];
  return header === undefined ? undefined : Number(header.toString());
};

interface Released {
  readonly key: string;
  readonly lateMs: number;
}

async function open(options: Pick<DelayedSourceOptions, 'tiers'> & Partial<DelayedSourceOptions>) {
  const released: Released[] = [];
  const moved: { key: string; remainingMs: number }[] = [];
  const source = await openDelayedSource({
    kafka,
    groupId: randomName('group'),
    window: { maxInFlight: 100, maxInFlightBytes: 1_000_000 },
    dueAt,
    release: (record) => {
      released.push({ key: String(record.key), lateMs: Date.now() - (dueAt(record) ?? 0) });
      return Promise.resolve();
    },
    move: (record, remainingMs) => {
      moved.push({ key: String(record.key), remainingMs });
      return Promise.resolve();
    },
    ...options,
  });
  return { source, released, moved };
}

/** Lateness of the record in the middle. A machine that stands still for a second delays some, not half. */
const usuallyLateMs = (released: readonly { readonly lateMs: number }[]): number =>
  released.map(({ lateMs }) => lateMs).sort((a, b) => a - b)[Math.floor(released.length / 2)] ?? Infinity;

describe('delayed source', () => {
  it('releases a record when it is due: not before, and hardly after', async () => {
    const topic = await tierTopic(2);
    const { source, released, moved } = await open({ tiers: [{ topic, delayMs: 300 }] });
    const now = Date.now();
    await Promise.all(Array.from({ length: 60 }, (_, n) => wait(topic, `key-${n}`, now + 400 + n * 50)));
    await eventually(() => released.length === 60);
    expect(Math.min(...released.map(({ lateMs }) => lateMs))).toBeGreaterThanOrEqual(0);
    expect(usuallyLateMs(released)).toBeLessThan(300);
    expect(moved).toEqual([]);
    expect(source.health()).toMatchObject({ waiting: 0, inFlight: 0 });
    await source.stop({ deadlineMs: 1_000 });
  });

  it('releases a record due in 50 ms on time, behind records that are due later', async () => {
    const topic = await tierTopic();
    const { source, released, moved } = await open({ tiers: [{ topic, delayMs: 0 }] });
    const now = Date.now();
    await Promise.all(Array.from({ length: 20 }, (_, n) => wait(topic, `long-${n}`, now + 3_000)));
    for (let n = 0; n < 10; n += 1) {
      await wait(topic, `short-${n}`, Date.now() + 50);
      await eventually(() => released.length === n + 1, { timeoutMs: 2_500 });
    }
    expect(released.every(({ key }) => key.startsWith('short'))).toBe(true);
    await eventually(() => released.length === 30);
    expect(Math.min(...released.map(({ lateMs }) => lateMs))).toBeGreaterThanOrEqual(0);
    expect(usuallyLateMs(released)).toBeLessThan(500);
    expect(moved).toEqual([]);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('reads no record before the delay of its tier, and then releases at once what is due or unreadable', async () => {
    const topic = await tierTopic();
    const begin = Date.now();
    const { source, released } = await open({ tiers: [{ topic, delayMs: 500 }] });
    await wait(topic, 'due long ago', begin - 1_000);
    await sink.send({ topic, key: 'without due-at', value: 'x' });
    await eventually(() => released.length === 2);
    expect(Date.now() - begin).toBeGreaterThanOrEqual(500);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('calls `move` with the remaining time of a record that is due much later', async () => {
    const topic = await tierTopic();
    const { source, moved, released } = await open({
      tiers: [{ topic, delayMs: 100 }],
      maxHeapWaitMs: 1_000,
    });
    await wait(topic, 'far', Date.now() + 60_000);
    await eventually(() => moved.length === 1);
    expect(moved[0]?.remainingMs).toBeGreaterThan(58_000);
    expect(moved[0]?.remainingMs).toBeLessThan(60_000);
    expect(released).toEqual([]);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('reads each tier independently of waiting ones, and commits what it has released', async () => {
    const [slow, fast] = [await tierTopic(), await tierTopic()];
    const groupId = randomName('group');
    const tiers = [
      { topic: slow, delayMs: 3_600_000 },
      { topic: fast, delayMs: 50 },
    ];
    await wait(slow, 'slow', Date.now() + 3_600_000);
    const { source, released } = await open({ groupId, tiers });
    for (let n = 0; n < 5; n += 1) {
      await wait(fast, `fast-${n}`, Date.now() + 60);
      await eventually(() => released.length === n + 1);
    }
    await eventually(async () => (await committed(kafka, groupId, fast)).get(0) === 5);
    expect((await committed(kafka, groupId, slow)).get(0)).toBeLessThanOrEqual(0);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('holds little of a large backlog in memory, reads it only when its time has come, and loses none', async () => {
    const [topic, soon] = [await tierTopic(4), await tierTopic()];
    const value = Buffer.alloc(500, 'x');
    for (let batch = 0; batch < 20; batch += 1) {
      await Promise.all(
        Array.from({ length: 2_000 }, (_, n) => sink.send({ topic, key: `${batch}-${n}`, value })),
      );
    }
    let ahead = 0;
    const { source, released } = await open({
      tiers: [
        { topic, delayMs: 3_600_000 },
        { topic: soon, delayMs: 0 },
      ],
      now: () => Date.now() + ahead,
    });
    await eventually(() => source.health().lag === 40_000);
    expect(source.health()).toMatchObject({ waiting: 0, inFlight: 0 });
    expect(released).toEqual([]);
    ahead = 3_700_000;
    await wait(soon, 'soon', Date.now()); // a record that comes makes the source look at the clock
    await eventually(() => released.length === 40_001, { timeoutMs: 20_000 });
    await eventually(() => source.health().lag === 0);
    expect(new Set(released.map(({ key }) => key)).size).toBe(40_001);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('pauses when its memory is full: late, never lost', async () => {
    const topic = await tierTopic();
    const now = Date.now();
    await Promise.all(Array.from({ length: 50 }, (_, n) => wait(topic, `key-${n}`, now + 4_000)));
    const { source, released } = await open({ tiers: [{ topic, delayMs: 10 }], maxWaiting: 10 });
    await eventually(() => source.health().waiting === 10);
    await eventually(() => released.length === 50);
    expect(Math.min(...released.map(({ lateMs }) => lateMs))).toBeGreaterThanOrEqual(0);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('releases and moves records of one tier while its memory is full of another tier', async () => {
    const [crowded, other] = [await tierTopic(), await tierTopic()];
    const { source, released, moved } = await open({
      tiers: [
        { topic: crowded, delayMs: 0 },
        { topic: other, delayMs: 100 },
      ],
      maxWaiting: 10,
    });
    const due = Date.now() + 4_000;
    await Promise.all(Array.from({ length: 50 }, (_, n) => wait(crowded, `late-${n}`, due)));
    await eventually(() => source.health().waiting === 10);
    await wait(other, 'due', Date.now());
    await wait(other, 'far', Date.now() + 60_000);
    await wait(other, 'soon', Date.now() + 600);
    await eventually(() => released.length === 2 && moved.length === 1, { timeoutMs: 2_000 });
    expect(released.map(({ key }) => key)).toEqual(['due', 'soon']);
    expect(released[1]?.lateMs).toBeGreaterThanOrEqual(0);
    await eventually(() => released.length === 52);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('moves what waits in memory when it stops, and the next source repeats nothing', async () => {
    const topic = await tierTopic();
    const groupId = randomName('group');
    const tiers = [{ topic, delayMs: 10 }];
    const one = await open({ groupId, tiers });
    const now = Date.now();
    await wait(topic, 'far', now + 4_000);
    await wait(topic, 'soon', now + 900);
    await wait(topic, 'due', now);
    await eventually(() => one.released.length === 1 && one.source.health().waiting === 2);
    const report = await one.source.stop({ deadlineMs: 5_000 });
    expect(report).toEqual({ drained: true, committed: true });
    expect(one.moved.map(({ key }) => key)).toEqual(['far']);
    expect(one.released.map(({ key }) => key)).toEqual(['due', 'soon']);
    const two = await open({ groupId, tiers });
    await wait(topic, 'later', Date.now());
    await eventually(() => two.released.length === 1);
    expect(two.released.map(({ key }) => key)).toEqual(['later']);
    await two.source.stop({ deadlineMs: 1_000 });
  });

  it('shares the tiers with a second member: nothing lost, and what waits in memory is not released by both', async () => {
    const topic = await tierTopic(6);
    const groupId = randomName('group');
    const tiers = [{ topic, delayMs: 10 }];
    const one = await open({ groupId, tiers });
    const due = Date.now() + 3_000;
    await Promise.all(Array.from({ length: 120 }, (_, n) => wait(topic, `key-${n}`, due)));
    await eventually(() => one.source.health().waiting === 120);
    const two = await open({ groupId, tiers, kafka: sharedKafka() });
    await eventually(() => one.source.health().waiting < 120 && two.source.health().waiting > 0);
    await eventually(() => one.released.length + two.released.length >= 120);
    const keys = [...one.released, ...two.released].map(({ key }) => key);
    expect(new Set(keys).size).toBe(120);
    expect(keys).toHaveLength(120);
    expect(two.released.length).toBeGreaterThan(0);
    await one.source.stop({ deadlineMs: 1_000 });
    await two.source.stop({ deadlineMs: 1_000 });
  });

  it('hands over what is due during the rebalance', async () => {
    const topic = await tierTopic(6);
    const groupId = randomName('group');
    const keys: string[] = [];
    // Without a pause some are in flight at any time.
    const release = async ({ key }: KafkaRecord): Promise<void> => {
      keys.push(String(key));
      await delay(100);
    };
    const one = await open({ groupId, tiers: [{ topic, delayMs: 10 }], release });
    const due = Date.now() + 1_000;
    await Promise.all(Array.from({ length: 600 }, (_, n) => wait(topic, `key-${n}`, due + n * 5)));
    await eventually(() => keys.length > 100);
    const two = await open({ groupId, tiers: [{ topic, delayMs: 10 }], release, kafka: sharedKafka() });
    await eventually(() => new Set(keys).size === 600);
    expect(keys).toHaveLength(600);
    await one.source.stop({ deadlineMs: 1_000 });
    await two.source.stop({ deadlineMs: 1_000 });
  });

  it.each([10, -10])(
    'writes a waiting record to its own tier once at most when its clock is %i min away from the broker’s',
    async (minutes) => {
      const [shortest, topic] = [await tierTopic(), await tierTopic()];
      let ahead = minutes * 60_000;
      const now = () => Date.now() + ahead;
      const moves: string[] = [];
      await wait(topic, 'before', now() + 150_000);
      const { source, released } = await open({
        tiers: [
          { topic: shortest, delayMs: 0 },
          { topic, delayMs: 120_000 },
        ],
        maxHeapWaitMs: 120_000,
        now,
        move: (record, remainingMs) => {
          moves.push(String(record.key));
          const to = remainingMs < 120_000 ? shortest : topic;
          return wait(to, String(record.key), dueAt(record) ?? 0);
        },
      });
      const opened = performance.now();
      await eventually(() => source.health().lag > 0 && source.health().lastProgressAt > opened);
      for (let n = 0; n < 5; n += 1) await wait(topic, `key-${n}`, now() + 130_000);
      const end = performance.now() + 1_500;
      await eventually(() => performance.now() > end);
      expect(moves.filter((key) => key !== 'before')).toEqual([]);
      expect(moves.length).toBeLessThanOrEqual(1);
      expect(released).toEqual([]);
      ahead += 13 * 60_000; // nothing else happens: the clock alone makes them due
      await eventually(() => released.length === 6);
      expect(moves.length).toBeLessThanOrEqual(1);
      await source.stop({ deadlineMs: 1_000 });
    },
  );

  it('calls `release` and `move` again after they reject', async () => {
    const topic = await tierTopic();
    let releases = 0;
    let moves = 0;
    const { source } = await open({
      tiers: [{ topic, delayMs: 10 }],
      maxHeapWaitMs: 100,
      release: () => ((releases += 1) < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve()),
      move: () => ((moves += 1) < 2 ? Promise.reject(new Error('not yet')) : Promise.resolve()),
    });
    await wait(topic, 'due', Date.now());
    await wait(topic, 'far', Date.now() + 60_000);
    await eventually(() => releases === 3 && moves === 2);
    await eventually(() => source.health().lag === 0);
    await source.stop({ deadlineMs: 1_000 });
  });
});
