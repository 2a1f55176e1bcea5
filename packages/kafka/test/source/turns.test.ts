import { eventually, randomName } from '@webhooks/testkit';
import { openDelayedSource, openSource } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka, sinkOn } from '../support/cluster.js';
import { countByTurn } from '../support/count-by-turn.js';

const kafka = sharedKafka();
const COUNT = 500;
const window = { maxInFlight: 2 * COUNT, maxInFlightBytes: 10_000_000 };
const sink = await sinkOn(kafka);
afterAll(closeAll);

async function filledTopic(partitions: number): Promise<string> {
  const topic = await newTopic(kafka, partitions);
  await Promise.all(
    Array.from({ length: COUNT }, (_, n) => sink.send({ topic, key: `${n}`, value: `${n}` })),
  );
  return topic;
}

describe('in one turn of the event loop, however much capacity there is,', () => {
  it('a source hands out few records', async () => {
    const topic = await filledTopic(3);
    const turns = countByTurn();
    const source = await openSource({
      kafka,
      groupId: randomName('group'),
      topics: [topic],
      window,
      handle: turns.note,
    });
    await eventually(() => turns.total() === COUNT);
    turns.stop();
    expect(turns.most()).toBeLessThanOrEqual(64);
    await source.stop({ deadlineMs: 2_000 });
  });

  it('a delayed source releases few of those that are due', async () => {
    const topic = await filledTopic(1);
    const turns = countByTurn();
    const source = await openDelayedSource({
      kafka,
      groupId: randomName('group'),
      tiers: [{ topic, delayMs: 0 }],
      window,
      dueAt: () => 0,
      release: turns.note,
      move: () => Promise.resolve(),
    });
    await eventually(() => turns.total() === COUNT);
    turns.stop();
    expect(turns.most()).toBeLessThanOrEqual(32);
    await source.stop({ deadlineMs: 2_000 });
  });
});
