import type { Pass, PassEnd, Verdict } from '../../src/gate/gate-types.js';
import { FAILED, later, openGateRig } from './gate-rig.js';

const SLOTS = 4;
const ANSWER_MS = 1_000;
const SWEEP_MS = 250;
const ENDED: PassEnd = { kind: 'succeeded', durationMs: ANSWER_MS };

/** A backlog of one slow endpoint on a clock of its own: it comes back when the gate says, and is attempted when it may. */
class Backlog {
  readonly #rig = openGateRig({ endpointConcurrency: SLOTS });
  readonly #verdicts: Promise<void>[] = [];
  readonly #due: { readonly at: number; readonly run: () => void }[] = [];
  #now = 0;
  delivered = 0;
  turns = 0;

  add(parkedCount: number): void {
    this.#at(this.#now, () => this.#knock(parkedCount, true));
  }

  /** A first attempt each so many milliseconds, for so long. */
  addInflow(everyMs: number, forMs: number): void {
    for (let at = 0; at < forMs; at += everyMs) this.#at(at, () => this.#knock(0, false));
  }

  /** Milliseconds until so many are delivered. */
  async drain(count: number): Promise<number> {
    this.#sweepLater();
    while (this.delivered < count) {
      this.#due.sort((left, right) => left.at - right.at);
      const next = this.#due.shift();
      if (next === undefined) throw new Error('nothing is left to happen');
      this.#rig.advance(next.at - this.#now);
      this.#now = next.at;
      next.run();
      await Promise.resolve();
    }
    await Promise.all(this.#verdicts);
    return this.#now;
  }

  #at(at: number, run: () => void): void {
    this.#due.push({ at, run });
  }

  #sweepLater(): void {
    this.#at(this.#now + SWEEP_MS, () => {
      this.#rig.gate.sweep();
      this.#sweepLater();
    });
  }

  #knock(parkedCount: number, waited: boolean): void {
    this.turns += 1;
    const verdict = this.#rig.knock({ waited, parkedCount });
    if (verdict instanceof Promise)
      this.#verdicts.push(verdict.then((given) => this.#go(given, parkedCount)));
    else this.#go(verdict, parkedCount);
  }

  #go(verdict: Verdict, parkedCount: number): void {
    if (verdict.kind === 'later')
      this.#at(this.#now + verdict.waitMs, () => this.#knock(parkedCount + 1, true));
    else this.#at(this.#now + ANSWER_MS, () => this.#end(verdict));
  }

  #end(pass: Pass): void {
    this.delivered += 1;
    this.#rig.gate.leave(pass, ENDED);
  }
}

/** Of the slots, one in eight is kept for first attempts; with four, one. */
const idealMs = (count: number): number => (count * ANSWER_MS) / (SLOTS - 1);

it.each([1, 3, 8, 16])(
  'a slow endpoint gets its backlog as fast as it takes it, though each was parked %i times before',
  async (parkedCount) => {
    const backlog = new Backlog();
    for (let count = 0; count < 400; count += 1) backlog.add(parkedCount);
    const tookMs = await backlog.drain(400);
    expect(tookMs).toBeLessThan(1.25 * idealMs(400));
    // A turn is a record written and read: a backlog of minutes is not to cost dozens of them for each delivery.
    expect(backlog.turns).toBeLessThan(400 * 6);
  },
);

it('new events do not make the backlog come back again and again', async () => {
  const backlog = new Backlog();
  for (let count = 0; count < 2_000; count += 1) backlog.add(1);
  // As many as the endpoint takes in four minutes, beside a backlog of ten.
  backlog.addInflow(250, 240_000);
  await backlog.drain(2_960);
  // 18,486 when written; 33,860 when a new event pulled the next free slot back to its own.
  expect(backlog.turns).toBeLessThan(2_960 * 8);
});

describe('when it comes back', () => {
  /** One slot, attempts of 900 ms, and two in the queue: whoever comes now would wait for too long. */
  function openBusyRig(): ReturnType<typeof openGateRig> {
    const rig = openGateRig({ endpointConcurrency: 1 });
    rig.gate.leave(rig.pass(), { kind: 'succeeded', durationMs: 900 });
    rig.pass();
    for (let count = 0; count < 2; count += 1) expect(rig.knock()).toBeInstanceOf(Promise);
    return rig;
  }

  it('reserves slots 4 s ahead, doubling with each time, and to half an hour', () => {
    const { knock } = openBusyRig();
    const waits = (parkedCount: number): readonly number[] =>
      Array.from({ length: 4_000 }, () => later(knock({ parkedCount })).waitMs);
    for (const [parkedCount, horizonMs] of [
      [0, 4_000],
      [3, 32_000],
      [40, 1_800_000],
    ] as const) {
      const longest = Math.max(...waits(parkedCount));
      expect(longest).toBeLessThanOrEqual(horizonMs);
      expect(longest).toBeGreaterThan(0.99 * horizonMs);
    }
  });

  it('spreads a backlog over the time it needs, from the next second on', () => {
    const { knock } = openBusyRig();
    const waits = Array.from({ length: 4 }, () => later(knock()).waitMs);
    expect(waits).toEqual([1_000, 1_900, 2_800, 3_700]);
  });

  it('sends those away for longer that have been parked often, but 8 s at most when the next slot is free before', () => {
    expect(later(openBusyRig().knock({ parkedCount: 2 })).waitMs).toBe(4_000);
    expect(later(openBusyRig().knock({ parkedCount: 40 })).waitMs).toBe(8_000);
  });

  it('is after 8 s when the endpoint hangs, and before it would have to wait in two tiers', () => {
    const { pass, knock, advance } = openGateRig({ endpointConcurrency: 2 });
    pass();
    pass();
    advance(1_001);
    expect(later(knock()).waitMs).toBe(1_000);
    advance(2_000);
    const waits = Array.from({ length: 4_000 }, () => later(knock()).waitMs);
    expect(Math.min(...waits)).toBe(8_000);
    expect(Math.max(...waits)).toBe(9_800);
  });

  it('is spread at the pace of now when the endpoint goes slower than it did', () => {
    const { gate, pass, knock, advance } = openGateRig({ endpointConcurrency: 2 });
    gate.leave(pass(), { kind: 'succeeded', durationMs: 10 });
    pass();
    pass();
    advance(1_200);
    const waits = Array.from({ length: 5 }, () => later(knock()).waitMs);
    expect(waits).toEqual([1_000, 1_600, 2_200, 2_800, 3_400]);
  });

  it('is spread over the last quarter of the span for those who find no slot in it', () => {
    const { gate, pass, knock, advance } = openGateRig({ endpointConcurrency: 1 });
    gate.leave(pass(), { kind: 'succeeded', durationMs: 10 });
    pass();
    advance(2_000);
    const waits = Array.from({ length: 40 }, () => later(knock()).waitMs).slice(2);
    expect(Math.max(...waits)).toBe(4_000);
    expect(Math.min(...waits)).toBeLessThan(3_300);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(3_250);
    expect(new Set(waits.map((wait) => Math.round(wait / 50))).size).toBeGreaterThan(12);
  });

  it('is at the pace of its successes for slots far ahead, and while a probe is under way', () => {
    const stalled = openGateRig({ endpointConcurrency: 1 });
    stalled.gate.leave(stalled.pass(), { kind: 'succeeded', durationMs: 10 });
    stalled.pass();
    stalled.advance(2_500);
    const far = Array.from({ length: 4 }, () => later(stalled.knock({ parkedCount: 9 })).waitMs);
    expect(far).toEqual([8_000, 8_010, 8_020, 8_030]);
    const probed = openGateRig({ endpointConcurrency: 1 });
    probed.gate.leave(probed.pass(), { kind: 'succeeded', durationMs: 10 });
    probed.breakDown();
    probed.advance(31_000);
    probed.pass({ waited: true, attempt: 2 });
    probed.advance(5_000);
    const beside = Array.from({ length: 4 }, () => later(probed.knock()).waitMs);
    expect(beside).toEqual([5_750, 5_760, 5_770, 5_780]);
  });

  it('is as if for a new endpoint after its URL has changed, though attempts at the old one hang', () => {
    const { pass, knock, advance } = openGateRig({ endpointConcurrency: 1 });
    pass();
    advance(2_500);
    expect(later(knock()).waitMs).toBe(1_000);
    expect(knock({ url: '/new' })).toBeInstanceOf(Promise);
  });

  it('is when the next probe is due, however often it has been parked', () => {
    const { gate, pass, knock, advance, breakDown } = openGateRig();
    breakDown();
    const waits = [0, 4, 200].map((parkedCount) => later(knock({ parkedCount, attempt: 2 })).waitMs);
    expect(waits).toEqual([30_000, 30_025, 30_050]);
    for (const pauseMs of [30_000, 60_000, 120_000, 240_000, 480_000]) {
      advance(pauseMs);
      gate.leave(pass({ waited: true, attempt: 2 }), FAILED);
    }
    expect(later(knock({ parkedCount: 200, attempt: 2 })).waitMs).toBe(600_000);
  });

  it('is soon while a probe is under way: after a second, then after as long as it has taken', () => {
    const { pass, knock, advance, breakDown } = openGateRig();
    breakDown();
    advance(30_000);
    pass({ waited: true });
    expect(later(knock({ waited: true })).waitMs).toBe(1_000);
    advance(4_000);
    expect(later(knock({ waited: true, parkedCount: 9 })).waitMs).toBe(4_000);
  });

  it('is within a pause, so that a backlog is there when the endpoint is', () => {
    const { knock, breakDown } = openGateRig();
    breakDown();
    const waits = Array.from({ length: 20_000 }, () => later(knock({ parkedCount: 5 })).waitMs);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_500 + 500 + 2 * 250);
  });
});
