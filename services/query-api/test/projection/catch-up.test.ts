import type { EndOffsets } from '@webhooks/kafka';
import { eventually } from '@webhooks/testkit';
import { CatchUp, isWithin } from '../../src/projection/catch-up.js';

interface Rig {
  readonly catchUp: CatchUp;
  /** The requests for the ends that wait for an answer, the oldest first. */
  readonly asked: PromiseWithResolvers<EndOffsets>[];
  readonly faults: unknown[];
  /** How often the position was compared. */
  readonly looks: () => number;
  /** How often the topic was to be read at once. */
  readonly fetches: () => number;
  readonly reach: (offset: number) => void;
  readonly tellOthers: (offset: number) => void;
}

function openRig({ waitMs = 5_000 } = {}): Rig {
  const asked: PromiseWithResolvers<EndOffsets>[] = [];
  const faults: unknown[] = [];
  let position = 0;
  let looks = 0;
  let others = -1;
  let fetches = 0;
  return {
    catchUp: new CatchUp({
      positions: {
        generation: () => 'one',
        mergeOwn: () => ends(position),
        covers: (ends) => {
          looks += 1;
          return position >= (ends.get(0) ?? 0);
        },
        offsets: () => Promise.resolve(ends(position)),
        fetchNow: () => (fetches += 1),
        needsOthers: () => others >= 0,
        isAhead: () => true,
        readOthers: () => {
          position = Math.max(position, others);
          return Promise.resolve();
        },
      },
      fetchEnds: () => {
        const request = Promise.withResolvers<EndOffsets>();
        asked.push(request);
        return request.promise;
      },
      onFault: (error) => faults.push(error),
      waitMs,
    }),
    asked,
    faults,
    looks: () => looks,
    fetches: () => fetches,
    reach: (offset) => (position = offset),
    tellOthers: (offset) => (others = offset),
  };
}

const ends = (end: number): EndOffsets => new Map([[0, end]]);

describe('a wait for the projection', () => {
  it('ends when the position has passed the end of the topic', async () => {
    const { catchUp, asked, reach } = openRig();
    const waiting = catchUp.wait();
    await eventually(() => asked.length === 1);
    asked[0]?.resolve(ends(7));
    reach(6);
    const early = await Promise.race([
      waiting,
      new Promise((resolve) => setImmediate(() => resolve('waits'))),
    ]);
    expect(early).toBe('waits');
    reach(7);
    expect(await waiting).toBe('passed');
  });

  it('has the topic read at once, unless everything was read', async () => {
    const { catchUp, asked, reach, fetches } = openRig();
    for (const end of [7, 7]) {
      const waiting = catchUp.wait();
      await eventually(() => asked.length > 0);
      asked.shift()?.resolve(ends(end));
      await eventually(() => fetches() > 0);
      reach(7);
      expect(await waiting).toBe('passed');
      expect(fetches()).toBe(1);
    }
  });

  it('ends with the positions of this instance, even when the database does not respond about others', async () => {
    let position = 0;
    let reads = 0;
    const catchUp = new CatchUp({
      positions: {
        generation: () => 'one',
        mergeOwn: () => ends(position),
        covers: () => position > 0,
        offsets: () => Promise.resolve(ends(position)),
        fetchNow: () => undefined,
        needsOthers: () => true,
        isAhead: () => true,
        readOthers: () => {
          reads += 1;
          return new Promise(() => undefined);
        },
      },
      fetchEnds: () => Promise.resolve(ends(1)),
      onFault: () => undefined,
      waitMs: 5_000,
    });
    const waiting = catchUp.wait();
    await eventually(() => reads === 1);
    position = 1;
    expect([await waiting, reads]).toEqual(['passed', 1]);
  });

  it('is late when the topic ends before a known position, because the topic was made anew', async () => {
    const { catchUp, asked, reach } = openRig();
    reach(7);
    const waiting = catchUp.wait();
    asked[0]?.resolve(ends(6));
    expect(await waiting).toBe('late');
  });

  it('shares the next request for the ends, never one that is under way', async () => {
    const { catchUp, asked } = openRig();
    const first = catchUp.wait();
    const later = [catchUp.wait(), catchUp.wait(), catchUp.wait()];
    expect(asked).toHaveLength(1);
    asked[0]?.resolve(ends(0));
    expect(await first).toBe('passed');
    await eventually(() => asked.length === 2);
    asked[1]?.resolve(ends(0));
    expect(await Promise.all(later)).toEqual(['passed', 'passed', 'passed']);
    expect(asked).toHaveLength(2);
  });

  it('ends late when the position is not reached, and says why', async () => {
    const { catchUp, asked, faults } = openRig({ waitMs: 50 });
    const waiting = catchUp.wait();
    asked[0]?.resolve(ends(1));
    expect(await waiting).toBe('late');
    expect(String(faults)).toMatch(/the projection (took longer|did not reach)/);
  });

  it('never ends as passed when its time is over', async () => {
    const { catchUp, asked } = openRig({ waitMs: 50 });
    const waits: Promise<string>[] = [];
    for (let at = 0; at < 200; at += 1) {
      waits.push(catchUp.wait());
      for (const request of asked) request.resolve(ends(1));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['late']));
  });

  it('ends late when the broker does not respond', async () => {
    const { catchUp, faults } = openRig({ waitMs: 50 });
    expect(await catchUp.wait()).toBe('late');
    expect(String(faults)).toMatch('the projection took longer than 50 ms');
  });

  it('ends late when the broker responds with a fault, and the next wait sends a new request', async () => {
    const { catchUp, asked } = openRig({ waitMs: 50 });
    const waiting = catchUp.wait();
    asked[0]?.reject(new Error('no broker'));
    expect(await waiting).toBe('late');
    const next = catchUp.wait();
    expect(asked).toHaveLength(2);
    asked[1]?.resolve(ends(0));
    expect(await next).toBe('passed');
  });

  it('takes over the positions that other instances have written', async () => {
    const { catchUp, asked, tellOthers } = openRig();
    const waiting = catchUp.wait();
    asked[0]?.resolve(ends(9));
    tellOthers(9);
    expect(await waiting).toBe('passed');
  });

  it('that ended late is not checked again, while others still wait', async () => {
    const { catchUp, asked, looks } = openRig({ waitMs: 100 });
    for (let round = 0; round < 5; round += 1) {
      const late = catchUp.wait();
      const another = catchUp.wait();
      await eventually(() => asked.length > 2 * round);
      asked[2 * round]?.resolve(ends(1_000 + round));
      await eventually(() => asked.length > 2 * round + 1);
      asked[2 * round + 1]?.resolve(ends(1_000 + round));
      expect(await late).toBe('late');
      expect(await another).toBe('late');
    }
    await eventually(() => {
      const before = looks();
      return new Promise<boolean>((resolve) => setTimeout(() => resolve(looks() === before), 50));
    });
  });

  it('is refused when a thousand wait already', async () => {
    const { catchUp, asked } = openRig();
    const waiting = Array.from({ length: 1_000 }, () => catchUp.wait());
    expect(await catchUp.wait()).toBe('full');
    asked[0]?.resolve(ends(0));
    await eventually(() => asked.length === 2);
    asked[1]?.resolve(ends(0));
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['passed']));
  });
});

it.each([
  { offsets: ends(2), reaches: true },
  { offsets: ends(3), reaches: false },
  // A partition that this broker does not know yet.
  { offsets: new Map([[99, 5]]), reaches: true },
])('a topic that ends at 2 reaches to $offsets: $reaches', ({ offsets, reaches }) => {
  expect(isWithin(offsets, ends(2))).toBe(reaches);
});
