import { PartitionTracker, type InFlightRecord } from '../../src/source/partition-tracker.js';
import { batchOf } from '../wire/batches.js';

const PLACE = { topic: 't', partition: 0 };

function openTracker(committed: number): PartitionTracker {
  const position = { ...PLACE, offset: committed, at: undefined };
  return new PartitionTracker(position, { now: Date.now, onFetched: () => undefined });
}

/** Serves offsets `from`…`to`, as a fetch at the tracker's position would. */
function feed(tracker: PartitionTracker, from: number, to: number): void {
  const values = Array.from({ length: to - from + 1 }, (_, n) => `${from + n}`);
  const records = batchOf({ base: from, values });
  const end = to + 1;
  tracker.accept(
    { ...PLACE, errorCode: 0, highWatermark: end, logStart: 0, aborted: [], records },
    { offset: tracker.fetchOffset() ?? -1 },
  );
}

function takeAll(tracker: PartitionTracker): InFlightRecord[] {
  const tasks: InFlightRecord[] = [];
  for (let task = tracker.begin(); task !== undefined; task = tracker.begin()) tasks.push(task);
  return tasks;
}

const offsets = (tasks: readonly InFlightRecord[]) => tasks.map(({ record }) => record.offset);
const finish = (tasks: readonly InFlightRecord[], ...which: number[]) => {
  for (const task of tasks) if (which.length === 0 || which.includes(task.record.offset)) task.finish();
};

describe('partition tracker', () => {
  it('begins at the committed offset, and without one at offset 0', () => {
    expect(openTracker(7).fetchOffset()).toBe(7);
    expect(openTracker(-1).fetchOffset()).toBe(0);
  });

  it('has its committable offset at the oldest record in flight, and at its position when there is none', () => {
    const tracker = openTracker(10);
    feed(tracker, 10, 14);
    expect(tracker.committable).toBe(10);
    const tasks = takeAll(tracker);
    finish(tasks, 10, 12, 14);
    expect(tracker.committable).toBe(11);
    expect(tracker.position).toBe(15);
    finish(tasks, 11);
    expect(tracker.committable).toBe(13);
    finish(tasks, 13);
    expect(tracker.committable).toBe(15);
  });

  it('fetches two blocks ahead and no more', () => {
    const tracker = openTracker(0);
    feed(tracker, 0, 1);
    expect(tracker.fetchOffset()).toBe(2);
    feed(tracker, 2, 3);
    expect(tracker.fetchOffset()).toBeUndefined();
    expect(offsets(takeAll(tracker))).toEqual([0, 1, 2, 3]);
    expect(tracker.fetchOffset()).toBe(4);
  });

  it('ignores a response to a fetch of another offset', () => {
    const tracker = openTracker(5);
    tracker.accept(
      {
        ...PLACE,
        errorCode: 0,
        highWatermark: 9,
        logStart: 0,
        aborted: [],
        records: batchOf({ base: 0, values: ['0'] }),
      },
      { offset: 0 },
    );
    expect(tracker.begin()).toBeUndefined();
  });

  it('wants nothing and buffers nothing after the partition was lost', () => {
    const tracker = openTracker(0);
    feed(tracker, 0, 4);
    tracker.unassign();
    expect(tracker.fetchOffset()).toBeUndefined();
    expect(tracker.begin()).toBeUndefined();
    feed(tracker, 0, 4);
    expect(tracker.begin()).toBeUndefined();
  });

  it('keeps its records when retention deleted the next ones, and drops them when the log was truncated', () => {
    const tracker = openTracker(0);
    feed(tracker, 0, 2);
    tracker.resetTo(50);
    expect(offsets(takeAll(tracker))).toEqual([0, 1, 2]);
    expect(tracker.fetchOffset()).toBe(50);
    expect(tracker.committable).toBe(0);
    tracker.resetTo(0);
    expect(tracker.fetchOffset()).toBe(0);
    expect(tracker.committable).toBe(0);
  });

  it('commits its lower position when the log was found truncated while a commit was under way', () => {
    const tracker = openTracker(400);
    tracker.resetTo(100);
    tracker.acknowledge({ ...PLACE, offset: 500, at: undefined });
    expect(tracker.committable).toBeGreaterThan(tracker.committed);
  });
});
