import type { Verdict } from '../../src/gate/gate-types.js';
import { openGateRig } from './gate-rig.js';
import type { GateRig } from './gate-rig.js';

interface Load {
  readonly ref: string;
  /** First attempts each second. */
  readonly perSecond: number;
  readonly durationMs: number;
}

interface Arrived {
  readonly load: Load;
  readonly at: number;
  readonly parkedCount: number;
}

const CONCURRENCY = 64;

/** One source of all first attempts in the order they came, and the gate, millisecond by millisecond. */
class Simulation {
  readonly rig: GateRig;
  now = 0;
  readonly #loads: readonly Load[];
  readonly #due: number[];
  readonly #unread: Arrived[] = [];
  readonly #later = new Map<number, (() => void)[]>();
  readonly faults: unknown[] = [];
  /** How long each was in the source, of those that `ref` names. */
  readonly lagOf = new Map<string, number[]>();

  constructor(loads: readonly Load[]) {
    this.#loads = loads;
    this.#due = loads.map(() => 0);
    this.rig = openGateRig({ endpointConcurrency: CONCURRENCY, queueLimit: 256 });
  }

  get unread(): number {
    return this.#unread.length;
  }

  async run(ms: number): Promise<void> {
    for (const until = this.now + ms; this.now < until; this.now += 1) {
      for (const call of this.#later.get(this.now) ?? []) call();
      this.#later.delete(this.now);
      this.#arrive();
      if (this.now % 50 === 0) this.rig.gate.sweep();
      while (this.#unread.length > 0 && this.rig.gate.room.isFree) this.#read();
      await Promise.resolve();
      this.rig.advance(1);
    }
  }

  #arrive(): void {
    for (const [index, load] of this.#loads.entries()) {
      const due = (this.#due[index] ?? 0) + load.perSecond / 1_000;
      for (let count = 1; count <= due; count += 1) this.#unread.push({ load, at: this.now, parkedCount: 0 });
      this.#due[index] = due % 1;
    }
  }

  #read(): void {
    const next = this.#unread.shift();
    if (next === undefined) return;
    const { ref } = next.load;
    this.lagOf.set(ref, [...(this.lagOf.get(ref) ?? []).slice(-999), this.now - next.at]);
    this.#knock(next);
  }

  #knock(one: Arrived): void {
    const { load, parkedCount } = one;
    const verdict = this.rig.knock({ ref: load.ref, tenantId: load.ref, parkedCount });
    if (verdict instanceof Promise)
      verdict.then((end) => this.#passed(one, end)).catch((fault: unknown) => this.faults.push(fault));
    else this.#passed(one, verdict);
  }

  #passed(one: Arrived, verdict: Verdict): void {
    const { durationMs } = one.load;
    if (verdict.kind === 'pass')
      this.#in(durationMs, () => this.rig.gate.leave(verdict, { kind: 'succeeded', durationMs }));
    else this.#in(verdict.waitMs, () => this.#knock({ ...one, parkedCount: one.parkedCount + 1 }));
  }

  #in(ms: number, call: () => void): void {
    const at = this.now + Math.max(1, Math.round(ms));
    this.#later.set(at, [...(this.#later.get(at) ?? []), call]);
  }
}

const overloaded = (count: number, durationMs: number, times: number): Load[] =>
  Array.from({ length: count }, (_, index) => ({
    ref: `slow-${index}`,
    perSecond: (times * CONCURRENCY * 1_000) / durationMs,
    durationMs,
  }));

it.each([
  [10, 100, 1.1],
  [3, 30, 1.15],
  [12, 100, 1.02],
  [1, 20, 1.5],
])('%d endpoints of %d ms that get %d times what they take keep nobody waiting', async (...slow) => {
  const simulation = new Simulation([
    ...overloaded(...slow),
    { ref: 'quick', perSecond: 500, durationMs: 3 },
  ]);
  await simulation.run(6_000);
  const lags = simulation.lagOf.get('quick') ?? [];
  expect(lags).toHaveLength(1_000);
  expect(Math.max(...lags)).toBeLessThan(50);
  expect(simulation.unread).toBeLessThan(50);
  expect(simulation.faults).toEqual([]);
});

it('one endpoint that is flooded far above all that a worker does is not parked: the source reads on later', async () => {
  const simulation = new Simulation([{ ref: 'quick', perSecond: 30_000, durationMs: 4 }]);
  await simulation.run(3_000);
  expect(simulation.unread).toBeGreaterThan(30_000);
  expect(simulation.faults).toEqual([]);
  expect(simulation.rig.gate.stats().queued).toBeGreaterThan(500);
});
