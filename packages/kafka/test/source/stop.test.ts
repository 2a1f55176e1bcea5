import { setImmediate as turn } from 'node:timers/promises';
import { eventually, randomName } from '@webhooks/testkit';
import { openDelayedSource, openSource } from '../../src/index.js';
import type { Assignment } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka, sinkOn } from '../support/cluster.js';
import { committed } from '../support/committed.js';

const kafka = sharedKafka();
const window = { maxInFlight: 10, maxInFlightBytes: 1_000_000 };
const sink = await sinkOn(kafka);
afterAll(closeAll);

describe('stop', () => {
  it('commits records that are finished during the drain', async () => {
    const topic = await newTopic(kafka);
    const groupId = randomName('group');
    const finish: (() => void)[] = [];
    const source = await openSource({
      kafka,
      groupId,
      topics: [topic],
      window,
      handle: () => new Promise<void>((resolve) => finish.push(resolve)),
    });
    await Promise.all(['a', 'b', 'c'].map((value) => sink.send({ topic, partition: 0, value })));
    await eventually(() => finish.length === 3);
    const stopped = source.stop({ deadlineMs: 20_000 });
    finish[0]?.();
    finish[1]?.();
    await eventually(async () => (await committed(kafka, groupId, topic)).get(0) === 2);
    finish[2]?.();
    expect(await stopped).toEqual({ drained: true, committed: true });
    expect((await committed(kafka, groupId, topic)).get(0)).toBe(3);
  });

  it('tells a handler that is not finished in time that its partition is not assigned, and commits nothing for it', async () => {
    const topic = await newTopic(kafka);
    const groupId = randomName('group');
    const partitions: Assignment[] = [];
    const fail = Promise.withResolvers<undefined>();
    const source = await openSource({
      ...{ kafka, groupId, topics: [topic], window },
      handle: (_record, partition) => {
        partitions.push(partition);
        return fail.promise;
      },
    });
    await sink.send({ topic, partition: 0, value: 'a' });
    await eventually(() => partitions.length === 1);
    expect(partitions).toMatchObject([{ assigned: true }]);
    expect(await source.stop({ deadlineMs: 100 })).toMatchObject({ drained: false });
    expect(partitions).toMatchObject([{ assigned: false }]);
    fail.reject(new Error('its partition is not assigned'));
    await eventually(() => source.health().inFlight === 0);
    expect((await committed(kafka, groupId, topic)).get(0) ?? 0).toBeLessThan(1);
  });

  it('hands out nothing after the drain, not even records that wait in memory until they are due', async () => {
    const topic = await newTopic(kafka, 1, { 'message.timestamp.type': 'LogAppendTime' });
    const released: string[] = [];
    let finish: (() => void) | undefined;
    let clock = Date.now() + 60_000; // stands still, later than any append
    const moment = clock + 900;
    const source = await openDelayedSource({
      kafka,
      groupId: randomName('group'),
      tiers: [{ topic, delayMs: 1 }],
      window: { ...window, maxInFlight: 1 },
      now: () => clock,
      dueAt: (record) => (String(record.value) === 'waits' ? moment : 0),
      release: (record) => {
        released.push(String(record.value));
        return new Promise<void>((resolve) => {
          finish = resolve;
        });
      },
      move: () => Promise.resolve(),
    });
    await Promise.all(['waits', 'hangs'].map((value) => sink.send({ topic, partition: 0, value })));
    await eventually(() => released.length === 1 && source.health().waiting === 1);
    const report = await source.stop({ deadlineMs: 100 });
    expect(report).toMatchObject({ drained: false });
    clock = moment; // what waited would be due now, and there is room
    finish?.();
    await turn();
    await turn();
    await turn();
    expect(released).toEqual(['hangs']);
  });
});
