import { TOPICS, TOPIC_TABLE } from '@webhooks/contracts';
import { FAULTS as ALL_FAULTS } from '../../src/chaos/faults.js';
import { formatPlan, makePlan } from '../../src/chaos/plan.js';
import type { PlannedFault, Step } from '../../src/chaos/plan.js';

const fault = (name: string, over: Partial<PlannedFault> = {}): PlannedFault => ({
  name,
  lane: 'system',
  weight: 1,
  targets: ['one', 'two'],
  lasts: [0, 0],
  ...over,
});
const FAULTS: readonly PlannedFault[] = [
  fault('kill', { weight: 3 }),
  fault('freeze', { lasts: [1_000, 60_000] }),
  fault('cut', { lasts: [500, 60_000] }),
  fault('hang', { lane: 'receivers', lasts: [2_000, 30_000] }),
];
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed * 7_919);
const plan = (seed: number, durationMs = 120_000, faults = FAULTS): readonly Step[] =>
  makePlan({ seed, durationMs, faults });

describe('the plan', () => {
  it('is the same for the same seed, and another one for another seed', () => {
    for (const seed of SEEDS) expect(plan(seed)).toEqual(plan(seed));
    const different = new Set(SEEDS.map((seed) => JSON.stringify(plan(seed))));
    expect(different.size).toBe(SEEDS.length);
  });

  it('never has two faults of one lane at once, and none that begins or lasts beyond the run', () => {
    for (const seed of SEEDS)
      for (const lane of ['system', 'receivers'] as const) {
        const own = plan(seed).filter((step) => step.lane === lane);
        expect(own.length).toBeGreaterThan(3);
        for (const [index, { atMs, lastsMs }] of own.entries()) {
          expect(atMs + lastsMs).toBeLessThanOrEqual(own[index + 1]?.atMs ?? 120_000);
        }
      }
  });

  it('hits only what a fault can hit, for as long as it may last: a tenth of the run at most', () => {
    for (const step of SEEDS.flatMap((seed) => plan(seed))) {
      const about = FAULTS.find(({ name }) => name === step.fault);
      expect(about?.targets).toContain(step.target);
      expect(step.lastsMs).toBeLessThanOrEqual(Math.min(about?.lasts[1] ?? 0, 12_000));
    }
    const longest = Math.max(...plan(1, 1_200_000).map(({ lastsMs }) => lastsMs));
    expect(longest).toBeGreaterThan(30_000);
    expect(longest).toBeLessThanOrEqual(60_000);
  });

  it('gives each fault its turn by its weight before one comes again', () => {
    for (const seed of SEEDS) {
      const first = plan(seed, 600_000)
        .filter(({ lane }) => lane === 'system')
        .slice(0, 5)
        .map((step) => step.fault);
      expect(first.sort()).toEqual(['cut', 'freeze', 'kill', 'kill', 'kill']);
    }
  });

  it('holds a transaction open on each topic, and makes that of webhooks anew, within two minutes', () => {
    for (const seed of SEEDS) {
      const steps = plan(seed, 120_000, ALL_FAULTS).filter(({ lane }) => lane === 'topics');
      const topicsOf = (name: string) =>
        new Set(steps.filter(({ fault: one }) => one === name).map(({ target }) => target));
      expect(topicsOf('foreign-transaction')).toEqual(new Set(TOPIC_TABLE.map(({ name }) => name)));
      expect(topicsOf('remake-topic')).toEqual(new Set([TOPICS.configurations]));
    }
  });

  it('does the same to the services whatever is done to the receivers', () => {
    const without = FAULTS.filter(({ lane }) => lane === 'system');
    const services = (steps: readonly Step[]): readonly Step[] =>
      steps.filter(({ lane }) => lane === 'system');
    for (const seed of SEEDS) expect(plan(seed, 120_000, without)).toEqual(services(plan(seed)));
  });

  it('is empty without faults', () => {
    expect(plan(1, 120_000, [])).toEqual([]);
  });

  it('is told a line for each step', () => {
    const steps: Step[] = [
      { lane: 'system', fault: 'kill', target: 'kafka', atMs: 3_000, lastsMs: 0 },
      { lane: 'system', fault: 'freeze', target: 'ingest', atMs: 64_250, lastsMs: 1_500 },
    ];
    expect(formatPlan(steps)).toEqual(['    3.0 s  kill kafka', '   64.3 s  freeze ingest for 1.5 s']);
  });
});
