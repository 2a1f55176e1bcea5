import { eventually, randomName } from '@webhooks/testkit';
import { openDelayedSource, openSink, openSource } from '../../src/index.js';
import type { OnPoison, Sink, Unhandled } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka } from '../support/cluster.js';
import { committed } from '../support/committed.js';

const kafka = sharedKafka();
const WINDOW = { maxInFlight: 10, maxInFlightBytes: 1_000_000 };
const RECORDS = 20;
const POISONED = 5;
const TRIES = 3;
const FAULT = new TypeError('cannot read properties of undefined');
let sink: Sink;
let topic: string;
beforeAll(async () => {
  sink = await openSink({ kafka });
});
beforeEach(async () => {
  topic = await newTopic(kafka, 1);
  const values = Array.from({ length: RECORDS }, (_, n) => `${n}`);
  await Promise.all(values.map((value) => sink.send({ topic, key: value, value })));
});
afterAll(async () => {
  await sink.close();
  await closeAll();
});

/** How often each record was handed out, and how often somebody was asked to keep the one. */
class Poisoned {
  readonly calls = new Map<number, number>();
  kept = 0;
  /** The last one that somebody was asked to keep. */
  last: Unhandled | undefined;
  /** The first so many times it cannot be kept. */
  failsToKeep = 0;

  readonly handle = ({ offset }: { readonly offset: number }): Promise<void> => {
    this.calls.set(offset, (this.calls.get(offset) ?? 0) + 1);
    if (offset === POISONED) throw FAULT;
    return Promise.resolve();
  };

  readonly onPoison: OnPoison = (unhandled) => {
    if (unhandled.times < TRIES) return undefined;
    this.last = unhandled;
    this.kept += 1;
    return this.kept > this.failsToKeep ? Promise.resolve() : Promise.reject(new Error('not kept'));
  };
}

const isCommitted = async (groupId: string): Promise<void> =>
  eventually(async () => expect([...(await committed(kafka, groupId, topic)).values()]).toEqual([RECORDS]));

describe('a record that its handler throws at each time', () => {
  it('is kept elsewhere after as many calls as `onPoison` wants, and later records are committed', async () => {
    const groupId = randomName('group');
    const poisoned = new Poisoned();
    const { handle, onPoison } = poisoned;
    const source = await openSource({ kafka, groupId, topics: [topic], window: WINDOW, handle, onPoison });
    await isCommitted(groupId);
    expect([poisoned.calls.get(POISONED), poisoned.kept]).toEqual([TRIES, 1]);
    expect([poisoned.last?.record.offset, poisoned.last?.error]).toEqual([POISONED, FAULT]);
    expect([...poisoned.calls.keys()].toSorted((left, right) => left - right)).toEqual(
      Array.from({ length: RECORDS }, (_, n) => n),
    );
    expect(source.health()).toMatchObject({ inFlight: 0, retrying: 0 });
    await source.stop({ deadlineMs: 1_000 });
  });

  it('is handled again after it could not be kept elsewhere', async () => {
    const groupId = randomName('group');
    const poisoned = new Poisoned();
    poisoned.failsToKeep = 2;
    const { handle, onPoison } = poisoned;
    const source = await openSource({ kafka, groupId, topics: [topic], window: WINDOW, handle, onPoison });
    await isCommitted(groupId);
    expect([poisoned.calls.get(POISONED), poisoned.kept]).toEqual([TRIES + 2, 3]);
    await source.stop({ deadlineMs: 1_000 });
  });

  it('is kept elsewhere by a delayed source too', async () => {
    const groupId = randomName('group');
    const poisoned = new Poisoned();
    const source = await openDelayedSource({
      kafka,
      groupId,
      tiers: [{ topic, delayMs: 0 }],
      window: WINDOW,
      dueAt: () => 0,
      release: poisoned.handle,
      move: poisoned.handle,
      onPoison: poisoned.onPoison,
    });
    await isCommitted(groupId);
    expect([poisoned.calls.get(POISONED), poisoned.kept]).toEqual([TRIES, 1]);
    await source.stop({ deadlineMs: 1_000 });
  });
});
