import { Lane, type Task } from '../src/lane.js';
import { batchOf } from './protocol/batches.js';

const PLACE = { topic: 't', partition: 0 };

function openLane(committed: number | undefined, earliest = 0): Lane {
  const lane = new Lane({ ...PLACE, committed, earliest }, { onFetched: () => undefined });
  lane.assign({ ...PLACE, committed, earliest });
  return lane;
}

/** Serves offsets `from`…`to`, as a fetch at the lane's position would. */
function feed(lane: Lane, from: number, to: number): void {
  const values = Array.from({ length: to - from + 1 }, (_, n) => `${from + n}`);
  const records = batchOf({ base: from, values });
  const end = to + 1;
  lane.accept(
    { ...PLACE, errorCode: 0, highWatermark: end, lastStableOffset: end, aborted: [], records },
    { offset: lane.want() ?? -1 },
  );
}

function takeAll(lane: Lane): Task[] {
  const tasks: Task[] = [];
  for (let task = lane.take(); task !== undefined; task = lane.take()) tasks.push(task);
  return tasks;
}

const offsets = (tasks: readonly Task[]) => tasks.map(({ record }) => record.offset);
const finish = (tasks: readonly Task[], ...which: number[]) => {
  for (const task of tasks) if (which.length === 0 || which.includes(task.record.offset)) task.finish();
};

describe('lane', () => {
  it('begins at what was committed, else at the earliest offset', () => {
    expect(openLane(7).want()).toBe(7);
    expect(openLane(undefined, 3).want()).toBe(3);
  });

  it('has its watermark at the oldest record in flight, and at its position when there is none', () => {
    const lane = openLane(10);
    feed(lane, 10, 14);
    expect(lane.watermark).toBe(10);
    const tasks = takeAll(lane);
    finish(tasks, 10, 12, 14);
    expect(lane.watermark).toBe(11);
    expect(lane.span).toBe(4);
    finish(tasks, 11);
    expect(lane.watermark).toBe(13);
    finish(tasks, 13);
    expect(lane.watermark).toBe(15);
    expect(lane.lag).toBe(0);
  });

  it('fetches two blocks ahead and no more', () => {
    const lane = openLane(0);
    feed(lane, 0, 1);
    expect(lane.want()).toBe(2);
    feed(lane, 2, 3);
    expect(lane.want()).toBeUndefined();
    expect(lane.busy()).toBe(true);
    expect(offsets(takeAll(lane))).toEqual([0, 1, 2, 3]);
    expect(lane.want()).toBe(4);
  });

  it('ignores an answer to a fetch from elsewhere', () => {
    const lane = openLane(5);
    lane.accept(
      {
        ...PLACE,
        errorCode: 0,
        highWatermark: 9,
        lastStableOffset: 9,
        aborted: [],
        records: batchOf({ base: 0, values: ['0'] }),
      },
      { offset: 0 },
    );
    expect(lane.take()).toBeUndefined();
  });

  it('goes on where it is when the partition stays or comes back and nobody went further', () => {
    const lane = openLane(0);
    feed(lane, 0, 4);
    const running = [lane.take(), lane.take(), lane.take()].flatMap((task) => task ?? []);
    lane.unassign();
    expect(lane.want()).toBeUndefined();
    finish(running, 1);
    lane.assign({ ...PLACE, committed: 0, earliest: 0 });
    expect(lane.watermark).toBe(0);
    expect(lane.want()).toBe(3); // 3 and 4 were buffered only
    finish(running, 0, 2);
    expect(lane.watermark).toBe(3);
  });

  it('skips what another owner has committed meanwhile', () => {
    const lane = openLane(0);
    feed(lane, 0, 4);
    const running = takeAll(lane);
    lane.unassign();
    lane.assign({ ...PLACE, committed: 3, earliest: 0 });
    expect(lane.watermark).toBe(3);
    expect(lane.want()).toBe(5);
    finish(running, 3, 4);
    expect(lane.watermark).toBe(5);
    lane.assign({ ...PLACE, committed: 50, earliest: 0 });
    finish(running);
    expect(lane.want()).toBe(50);
    expect(lane.watermark).toBe(50);
  });

  it('reads again from what is committed when a record was abandoned', () => {
    const lane = openLane(0);
    feed(lane, 0, 4);
    const running = takeAll(lane);
    finish(running, 1, 2, 3, 4);
    lane.unassign();
    running[0]?.abandon();
    lane.assign({ ...PLACE, committed: 0, earliest: 0 });
    expect(lane.want()).toBe(0);
    feed(lane, 0, 4);
    finish(running);
    expect(lane.watermark).toBe(0);
    expect(offsets(takeAll(lane))).toEqual([0, 1, 2, 3, 4]);
  });

  it('begins anew when what was committed is gone: the topic was made anew', () => {
    const lane = openLane(100);
    lane.assign({ ...PLACE, committed: undefined, earliest: 0 });
    expect(lane.want()).toBe(0);
    expect(lane.watermark).toBe(0);
  });

  it('keeps what it has when retention deleted what comes next, and begins anew when the log was truncated', () => {
    const lane = openLane(0);
    feed(lane, 0, 2);
    lane.outOfRange(50);
    expect(offsets(takeAll(lane))).toEqual([0, 1, 2]);
    expect(lane.want()).toBe(50);
    expect(lane.watermark).toBe(0);
    lane.outOfRange(0);
    expect(lane.want()).toBe(0);
    expect(lane.watermark).toBe(0);
  });
});
