import { performance } from 'node:perf_hooks';
import { eventually, randomName } from '@webhooks/testkit';
import { openSink, type Sink } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka } from '../support/cluster.js';
import { collect, type Collected } from '../support/collect.js';
import { spawnMember } from '../support/member-process.js';
import { partitionsOf } from '../support/members.js';
import { Trickle } from '../support/trickle.js';

const PARTITIONS = 12;
const QUICK = { hang: false };
const HANGING = { hang: true };
const kafka = sharedKafka();
let sink: Sink;
let topic: string;
let groupId: string;
let trickle: Trickle;
beforeAll(async () => {
  sink = await openSink({ kafka });
});
beforeEach(async () => {
  topic = await newTopic(kafka, PARTITIONS);
  groupId = randomName('group');
  trickle = new Trickle(sink, topic, PARTITIONS);
});
afterEach(() => trickle.end());
afterAll(async () => {
  await sink.close();
  await closeAll();
});

/** A member of which one delivery may hang for ever, as one to a dead endpoint does for 10 s. */
function open(does: { readonly hang: boolean }): Promise<Collected> {
  let hangs = does.hang;
  return collect(kafka, {
    groupId,
    topics: [topic],
    handle: (record) => {
      if (hangs) {
        hangs = false;
        return new Promise(() => undefined);
      }
      trickle.handled(String(record.value));
      return Promise.resolve();
    },
  });
}

const shared = (members: readonly Collected[]) =>
  eventually(() => members.every((member) => partitionsOf(member) === PARTITIONS / members.length));

async function stopAll(members: readonly Collected[]): Promise<void> {
  for (const { source } of members) await source.stop({ deadlineMs: 1_000 });
}

// A member hears of a rebalance with its next heartbeat, half a second later at most, and waits up to a second for what it
// has in flight; all wait for the last one.
describe('deliveries of a partition stand still', () => {
  it('for at most 2 s when a member leaves in order', async () => {
    const [first, second] = [await open(HANGING), await open(QUICK)];
    const third = await open(HANGING);
    await shared([first, second, third]);
    await trickle.flows();
    const from = performance.now();
    await second.source.stop({ deadlineMs: 5_000 });
    await shared([first, third]);
    await trickle.flows();
    expect(trickle.longestGapMs(from)).toBeLessThan(2_000);
    await stopAll([first, third]);
  });

  it('for at most 2 s when a member joins', async () => {
    const [first, second] = [await open(HANGING), await open(HANGING)];
    await shared([first, second]);
    await trickle.flows();
    const from = performance.now();
    const third = await open(QUICK);
    await shared([first, second, third]);
    await trickle.flows();
    expect(trickle.longestGapMs(from)).toBeLessThan(2_000);
    await stopAll([first, second, third]);
  });

  it('for at most 9 s when a member is killed and does not come back', async () => {
    const onHandled = (value: string) => trickle.handled(value);
    const killed = spawnMember(kafka.brokers, { groupId, topic, workMs: 0, onHandled });
    await eventually(killed.joined, { timeoutMs: 20_000 });
    const survivor = await open(HANGING);
    await eventually(() => partitionsOf(survivor) === PARTITIONS / 2);
    await trickle.flows();
    const from = performance.now();
    killed.process.kill('SIGKILL');
    await eventually(() => partitionsOf(survivor) === PARTITIONS, { timeoutMs: 20_000 });
    await trickle.flows();
    expect(trickle.longestGapMs(from)).toBeLessThan(9_000);
    // The bound is for what the killed one held: it did hold something.
    expect(trickle.longestGapMs(from)).toBeGreaterThan(2_000);
    await stopAll([survivor]);
  });
});
