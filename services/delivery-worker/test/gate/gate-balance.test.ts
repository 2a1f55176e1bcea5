import type { Pass, PassEnd, Verdict } from '../../src/gate/gate-types.js';
import { openGateRig } from './gate-rig.js';

/** Numbers that look random and come again in each run (a linear congruential generator, Numerical Recipes). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const ENDS: readonly PassEnd[] = [
  { kind: 'succeeded', durationMs: 5 },
  { kind: 'failed', durationMs: 5, label: '5xx' },
  { kind: 'unmade' },
];

/** Deliveries that knock, wait and leave in any order. */
class Crowd {
  readonly rig = openGateRig({ endpointConcurrency: 3, maxAttempts: 20, queueLimit: 30 });
  readonly #random: () => number;
  readonly #inside: Pass[] = [];
  readonly #noted: Promise<void>[] = [];
  knocks = 0;
  verdicts = 0;
  most = 0;

  constructor(seed: number) {
    this.#random = seeded(seed);
  }

  get isEmpty(): boolean {
    return this.#inside.length === 0;
  }

  step(): void {
    if (this.#random() < 0.55) this.#knock();
    else this.leaveOne();
    if (this.#random() < 0.2) this.rig.advance(this.#random() * 500);
    if (this.#random() < 0.05) this.rig.gate.sweep();
    this.most = Math.max(this.most, this.rig.gate.stats().busy);
  }

  leaveOne(): void {
    const [pass] = this.#inside.splice(Math.floor(this.#random() * this.#inside.length), 1);
    const end = ENDS[Math.floor(this.#random() * ENDS.length)];
    if (pass && end) this.rig.gate.leave(pass, end);
  }

  /** Rejects when a verdict was not what it should be. */
  async allNoted(): Promise<void> {
    await Promise.all(this.#noted);
  }

  #knock(): void {
    this.knocks += 1;
    const tenantId = `t${Math.floor(this.#random() * 3)}`;
    const ref = `e${Math.floor(this.#random() ** 3 * 12)}`;
    const url = this.#random() < 0.01 ? '/new' : '/hook';
    const verdict = this.rig.knock({ tenantId, ref, url, waited: this.#random() < 0.3 });
    this.#noted.push(Promise.resolve(verdict).then((given) => this.#note(given)));
  }

  #note(verdict: Verdict): void {
    this.verdicts += 1;
    if (verdict.kind === 'pass') this.#inside.push(verdict);
    else expect(verdict.waitMs).toBeGreaterThan(0);
  }
}

async function live(seed: number): Promise<Crowd> {
  const crowd = new Crowd(seed);
  for (let step = 0; step < 5_000; step += 1) {
    crowd.step();
    await Promise.resolve();
  }
  // Everybody leaves, and time passes: nobody may be left waiting.
  for (let round = 0; round < 10_000 && (crowd.verdicts < crowd.knocks || !crowd.isEmpty); round += 1) {
    crowd.leaveOne();
    crowd.rig.advance(100);
    crowd.rig.gate.sweep();
    await Promise.resolve();
  }
  return crowd;
}

describe('the gate in any order of events', () => {
  it.each(Array.from({ length: 20 }, (_, seed) => seed + 1))(
    'answers everyone, lets in no more than it may, and ends empty (seed %i)',
    async (seed) => {
      const crowd = await live(seed);
      const { knocks, verdicts, most, rig } = crowd;
      expect(knocks).toBeGreaterThan(2_000);
      expect(verdicts).toBe(knocks);
      await crowd.allNoted();
      expect(most).toBeLessThanOrEqual(20);
      expect(rig.gate.stats()).toMatchObject({ busy: 0, queued: 0 });
    },
  );
});
