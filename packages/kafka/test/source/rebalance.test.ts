import { performance } from 'node:perf_hooks';
import { eventually, randomName } from '@webhooks/testkit';
import {} from '../../src/index.js';
import { closeAll, kafkaAt, newTopic, sharedKafka, sinkOn } from '../support/cluster.js';
import { committed } from '../support/committed.js';
import { groupState } from '../support/group-state.js';
import { spawnMember } from '../support/member-process.js';
import { balance, openMember, partitionsOf, type Member } from '../support/members.js';
import { slowLeader } from '../support/slow-leader.js';

const kafka = sharedKafka();
const sink = await sinkOn(kafka);
afterAll(closeAll);

async function write(topic: string, from: number, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, n) => sink.send({ topic, key: `${from + n}`, value: `${from + n}` })),
  );
}

const all = (members: readonly Member[]): string[] => members.flatMap(({ handled }) => handled);

describe('a group of several members', () => {
  it('[after each rebalance all partitions restart from the committed offset, kept ones too] handles nothing twice when a member joins and another leaves', async () => {
    const topic = await newTopic(kafka, 12);
    const groupId = randomName('group');
    const options = { groupId, topic, workMs: 5 };
    await write(topic, 0, 2_000);
    const first = await openMember(kafka, options);
    await eventually(() => first.handled.length > 200);
    const second = await openMember(kafka, options);
    await eventually(() => partitionsOf(first) === 6 && partitionsOf(second) === 6);
    await write(topic, 2_000, 2_000);
    const third = await openMember(kafka, options);
    await eventually(() => [first, second, third].every((member) => partitionsOf(member) === 4));
    await write(topic, 4_000, 2_000);
    expect(await second.source.stop({ deadlineMs: 5_000 })).toMatchObject({ drained: true, committed: true });
    await eventually(() => partitionsOf(first) === 6 && partitionsOf(third) === 6);
    const members = [first, second, third];
    await eventually(() => new Set(all(members)).size === 6_000, { timeoutMs: 20_000 });
    const ends = [...(await committed(kafka, groupId, topic)).keys()];
    expect(ends).toHaveLength(12);
    await first.source.stop({ deadlineMs: 5_000 });
    await third.source.stop({ deadlineMs: 5_000 });
    expect(balance(all(members), 6_000)).toEqual({ lost: 0, repeats: 0 });
  });

  it('keeps partitions with their members as far as an even share allows', async () => {
    const topic = await newTopic(kafka, 6);
    const options = { groupId: randomName('group'), topic };
    const first = await openMember(kafka, options);
    const before = Object.keys(first.source.health().lagByPartition);
    const second = await openMember(kafka, options);
    await eventually(() => partitionsOf(first) === 3 && partitionsOf(second) === 3);
    const kept = Object.keys(first.source.health().lagByPartition);
    expect(before).toEqual(expect.arrayContaining(kept));
    const third = await openMember(kafka, options);
    await eventually(() => [first, second, third].every((member) => partitionsOf(member) === 2));
    expect(kept).toEqual(expect.arrayContaining(Object.keys(first.source.health().lagByPartition)));
    for (const { source } of [third, second, first]) await source.stop({ deadlineMs: 1_000 });
  });

  it('is joined again without a warning when the next rebalance began during the join', async () => {
    const topic = await newTopic(kafka, 4);
    const groupId = randomName('group');
    const warnings: unknown[] = [];
    const own = kafkaAt(kafka.brokers, (level, message, fields) => {
      if (level === 'warn') warnings.push({ message, ...fields });
    });
    const leader = await slowLeader(kafka, groupId, topic);
    const outrun = openMember(own, { groupId, topic });
    await leader.deals(2);
    const next = openMember(kafka, { groupId, topic });
    await eventually(async () => (await groupState(kafka, groupId)).members === 3);
    leader.goOn();
    const members = await Promise.all([outrun, next]);
    await leader.leave();
    await eventually(() => members.every((member) => partitionsOf(member) === 2));
    expect(warnings).toEqual([]);
    for (const { source } of members) await source.stop({ deadlineMs: 1_000 });
  });

  it('repeats at most what was in flight when a record takes longer than a rebalance waits', async () => {
    const topic = await newTopic(kafka, 4);
    const options = { groupId: randomName('group'), topic, workMs: 1_500, maxInFlight: 40 };
    await write(topic, 0, 80);
    const first = await openMember(kafka, options);
    await eventually(() => first.source.health().inFlight === 40);
    const second = await openMember(kafka, options);
    await eventually(() => new Set([...first.handled, ...second.handled]).size === 80, { timeoutMs: 30_000 });
    await eventually(() => first.source.health().inFlight + second.source.health().inFlight === 0);
    const { lost, repeats } = balance(all([first, second]), 80);
    expect(lost).toBe(0);
    expect(repeats).toBeLessThanOrEqual(40);
    await first.source.stop({ deadlineMs: 5_000 });
    await second.source.stop({ deadlineMs: 5_000 });
  });

  it('gives a killed member that starts again its partitions within 2 s, loses nothing and repeats little', async () => {
    const topic = await newTopic(kafka, 4);
    const options = { groupId: randomName('group'), topic, workMs: 10, clientId: randomName('member') };
    const killed = spawnMember(kafka.brokers, options);
    await eventually(killed.joined);
    const other = await openMember(kafka, { ...options, clientId: randomName('other'), maxInFlight: 50 });
    await eventually(() => partitionsOf(other) === 2);
    await write(topic, 0, 10_000);
    await eventually(() => killed.handled.length > 500);
    killed.process.kill('SIGKILL');
    const begin = performance.now();
    const again = await openMember(kafka, { ...options, maxInFlight: 50 });
    await eventually(() => partitionsOf(again) === 2 && partitionsOf(other) === 2);
    // The other one hears of it with its next heartbeat, and waits a second at most for what it has in flight.
    expect(performance.now() - begin).toBeLessThan(2_000);
    const members = [killed, other, again];
    const handled = () => members.flatMap((member) => member.handled);
    await eventually(() => new Set(handled()).size === 10_000, { timeoutMs: 20_000 });
    await eventually(() => other.source.health().lag + again.source.health().lag === 0);
    const { lost, repeats } = balance(handled(), 10_000);
    expect(lost).toBe(0);
    expect(repeats).toBeLessThanOrEqual(5_000 * 0.3 + 50); // 50 in flight of 10 ms each: 5,000 a second, committed every 100 ms
    for (const { source } of [other, again]) await source.stop({ deadlineMs: 1_000 });
  });
});
