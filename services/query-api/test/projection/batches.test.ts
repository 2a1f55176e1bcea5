import type { KafkaRecord } from '@webhooks/kafka';
import { eventually } from '@webhooks/testkit';
import { Batches } from '../../src/projection/projection.js';

/** A record with a number as its offset, of one byte by default. */
const itemOf = (n: number, size = 1) => ({ size, offset: n }) as KafkaRecord;

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

interface Rig {
  readonly batches: Batches;
  /** What was applied, batch by batch. */
  readonly applied: number[][];
  /** The next calls fail. */
  readonly fail: (times: number) => void;
  /** Calls that will still fail. */
  readonly failuresLeft: () => number;
  /** The next call waits until the returned function is called. */
  readonly hold: () => () => void;
}

function openRig(options: { readonly maxBytes?: number } = {}): Rig {
  const applied: number[][] = [];
  let failures = 0;
  let held: Promise<void> | undefined;
  const apply = async (items: readonly KafkaRecord[]): Promise<void> => {
    await held;
    if (failures > 0) {
      failures -= 1;
      throw new Error('the database is away');
    }
    applied.push(items.map(({ offset }) => offset));
  };
  return {
    batches: new Batches({ name: 'test', apply, maxBytes: 100, log, ...options }),
    applied,
    fail: (times) => (failures = times),
    failuresLeft: () => failures,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      held = promise.then(() => {
        held = undefined;
      });
      return () => resolve(undefined);
    },
  };
}

/** Longer than the pause behind the first failures. */
const twice = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 1_000);
  });

const addAll = (batches: Batches, items: readonly number[]): Promise<unknown[]> =>
  Promise.all(items.map((n) => batches.add(itemOf(n))));

describe('batches', () => {
  it('hold records that came together, in their order', async () => {
    const { batches, applied } = openRig();
    await addAll(batches, [1, 2, 3]);
    expect(applied).toEqual([[1, 2, 3]]);
  });

  it('apply a record once that is queued twice: its partition was lost and came back', async () => {
    const { batches, applied } = openRig();
    await addAll(batches, [1, 2, 1, 2, 3]);
    expect(applied).toEqual([[1, 2, 3]]);
  });

  it('collect records while one batch is written', async () => {
    const { batches, applied, hold } = openRig();
    const release = hold();
    const first = batches.add(itemOf(1));
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const rest = addAll(batches, [2, 3]);
    release();
    await Promise.all([first, rest]);
    expect(applied).toEqual([[1], [2, 3]]);
  });

  it('are cut at their greatest size, in order', async () => {
    const { batches, applied } = openRig({ maxBytes: 2 });
    await addAll(batches, [1, 2, 3, 4, 5]);
    expect(applied).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('have at least one record, however large', async () => {
    const { batches, applied } = openRig({ maxBytes: 2 });
    await Promise.all([itemOf(1, 3), itemOf(2), itemOf(3, 9)].map((item) => batches.add(item)));
    expect(applied).toEqual([[1], [2], [3]]);
  });

  it('that fail are tried again before anything behind them', async () => {
    const { batches, applied, fail } = openRig();
    fail(2);
    const first = batches.add(itemOf(1));
    await new Promise(setImmediate);
    await Promise.all([first, batches.add(itemOf(2))]);
    expect(applied.flat()).toEqual([1, 2]);
  });

  it('end their tries when they are stopped, and then count nothing as applied', async () => {
    const { batches, applied, fail, failuresLeft } = openRig();
    fail(1_000_000);
    let done = false;
    const added = batches.add(itemOf(1));
    added.then(
      () => (done = true),
      () => (done = true),
    );
    await eventually(() => failuresLeft() < 1_000_000);
    batches.stop();
    fail(0);
    await Promise.race([added, twice()]);
    expect(applied).toEqual([]);
    expect(done).toBe(false);
  });
});
