import { performance } from 'node:perf_hooks';
import { eventually, randomName } from '@webhooks/testkit';
import { openDelayedSource, openSink, openSource, type Kafka, type Sink } from '../../src/index.js';
import { closeAll, kafkaAt, newTopic, sharedKafka } from '../support/cluster.js';
import { collect } from '../support/collect.js';
import { groupState } from '../support/group-state.js';
import { spawnMember, type MemberProcess } from '../support/member-process.js';
import { openMember, partitionsOf } from '../support/members.js';
import { slowLeader } from '../support/slow-leader.js';

/** A member that is gone without a word is counted, and dealt partitions, until its session of 6 s ends. */
const HALF_A_SESSION_MS = 3_000;

const kafka = sharedKafka();
const processes: MemberProcess[] = [];
let sink: Sink;
beforeAll(async () => {
  sink = await openSink({ kafka });
});
afterEach(() => {
  for (const { process } of processes.splice(0)) process.kill('SIGKILL');
});
afterAll(async () => {
  await sink.close();
  await closeAll();
});

/** A member that SIGSTOP freezes: then it holds up each rebalance, until SIGCONT. */
async function freezable(groupId: string, topic: string): Promise<MemberProcess> {
  const member = spawnMember(kafka.brokers, { groupId, topic, workMs: 1 });
  processes.push(member);
  await eventually(member.joined, { timeoutMs: 20_000 });
  return member;
}

const window = { maxInFlight: 1, maxInFlightBytes: 1 };

const openers: Record<string, (own: Kafka, groupId: string, topic: string) => Promise<unknown>> = {
  openSource: (own, groupId, topic) =>
    openSource({ kafka: own, groupId, topics: [topic], window, handle: () => Promise.resolve() }),
  openDelayedSource: (own, groupId, topic) =>
    openDelayedSource({
      kafka: own,
      groupId,
      tiers: [{ topic, delayMs: 10 }],
      window,
      dueAt: () => 0,
      release: () => Promise.resolve(),
      move: () => Promise.resolve(),
    }),
};

describe('a member that is stopped while its group rebalances', () => {
  it('leaves before it has joined again, and the next member has all partitions at once', async () => {
    const topic = await newTopic(kafka, 12);
    const options = { groupId: randomName('group'), topic };
    const first = await openMember(kafka, options);
    const never = new Promise<void>(() => undefined);
    const second = await collect(kafka, { ...options, topics: [topic], handle: () => never });
    await eventually(() => partitionsOf(first) === 6 && partitionsOf(second) === 6);
    await Promise.all(
      Array.from({ length: 12 }, (_, partition) => sink.send({ topic, partition, value: 'x' })),
    );
    await eventually(() => second.source.health().inFlight === 6);
    await first.source.stop({ deadlineMs: 1_000 });
    // It waits a second for what is in flight before it joins again.
    await eventually(() => !second.source.health().joined);
    await second.source.stop({ deadlineMs: 0 });
    const begin = performance.now();
    const third = await openMember(kafka, options);
    await eventually(() => partitionsOf(third) === 12, { timeoutMs: 20_000 });
    expect(performance.now() - begin).toBeLessThan(HALF_A_SESSION_MS);
    await third.source.stop({ deadlineMs: 1_000 });
  });

  it('leaves while its join waits for the others, who then share its partitions', async () => {
    const topic = await newTopic(kafka, 12);
    const options = { groupId: randomName('group'), topic };
    const second = await openMember(kafka, options);
    const frozen = await freezable(options.groupId, topic);
    await eventually(() => partitionsOf(second) === 6);
    frozen.process.kill('SIGSTOP');
    const third = openMember(kafka, options);
    await eventually(() => !second.source.health().joined);
    await eventually(async () => (await groupState(kafka, options.groupId)).members === 3);
    await second.source.stop({ deadlineMs: 1_000 });
    frozen.process.kill('SIGCONT');
    const begin = performance.now();
    const { source } = await third;
    await eventually(() => Object.keys(source.health().lagByPartition).length === 6, { timeoutMs: 20_000 });
    expect(performance.now() - begin).toBeLessThan(HALF_A_SESSION_MS);
    await source.stop({ deadlineMs: 1_000 });
  });
});

describe('a source that is still being opened', () => {
  it.each(Object.entries(openers))('%s ends, and leaves, when its cluster is closed', async (_, open) => {
    const topic = await newTopic(kafka, 4);
    const groupId = randomName('group');
    const frozen = await freezable(groupId, topic);
    frozen.process.kill('SIGSTOP');
    const own = kafkaAt(kafka.brokers);
    const opening = open(own, groupId, topic);
    const failed = expect(opening).rejects.toThrow('stopped before the group was joined');
    await eventually(async () => (await groupState(kafka, groupId)).members === 2);
    const begin = performance.now();
    await own.close();
    await failed;
    frozen.process.kill('SIGCONT');
    await eventually(
      async () => expect(await groupState(kafka, groupId)).toEqual({ state: 'Stable', members: 1 }),
      { timeoutMs: 20_000 },
    );
    expect(performance.now() - begin).toBeLessThan(HALF_A_SESSION_MS);
  });

  it('is not opened any more when its cluster is closed', async () => {
    const topic = await newTopic(kafka, 4);
    const groupId = randomName('group');
    const own = kafkaAt(kafka.brokers);
    await own.close();
    for (const open of Object.values(openers)) {
      await expect(open(own, groupId, topic)).rejects.toThrow('the cluster is closed');
    }
    expect(await groupState(kafka, groupId)).toEqual({ state: 'Dead', members: 0 });
  });

  it('leaves the group while it waits for its partitions', async () => {
    const topic = await newTopic(kafka, 4);
    const groupId = randomName('group');
    const leader = await slowLeader(kafka, groupId, topic);
    const own = kafkaAt(kafka.brokers);
    const failed = expect(openers['openSource']?.(own, groupId, topic)).rejects.toThrow('stopped before');
    await leader.deals(2);
    const begin = performance.now();
    await own.close();
    await failed;
    leader.goOn();
    await eventually(
      async () => expect(await groupState(kafka, groupId)).toEqual({ state: 'Stable', members: 1 }),
      { timeoutMs: 20_000 },
    );
    expect(performance.now() - begin).toBeLessThan(HALF_A_SESSION_MS);
    await leader.leave();
  });
});
