import { setImmediate } from 'node:timers/promises';
import { TOPICS, TOPIC_TABLE } from '@webhooks/contracts';
import { FAULTS as ALL_FAULTS } from '../../src/chaos/faults.js';
import { formatPlan, makePlan, NotNow, runPlan } from '../../src/chaos/plan.js';
import type { PlannedFault, Step, End, Fault, PlanRun } from '../../src/chaos/plan.js';
import type { World } from '../../src/chaos/world/world.js';

const fault = (name: string, over: Partial<PlannedFault> = {}): PlannedFault => ({
  name,
  track: 'system',
  weight: 1,
  targets: ['one', 'two'],
  lasts: [0, 0],
  ...over,
});
const FAULTS: readonly PlannedFault[] = [
  fault('kill', { weight: 3 }),
  fault('freeze', { lasts: [1_000, 60_000] }),
  fault('cut', { lasts: [500, 60_000] }),
  fault('hang', { track: 'receivers', lasts: [2_000, 30_000] }),
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

  it('never has two faults of one track at once, and none that begins or lasts beyond the run', () => {
    for (const seed of SEEDS)
      for (const track of ['system', 'receivers'] as const) {
        const own = plan(seed).filter((step) => step.track === track);
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
        .filter(({ track }) => track === 'system')
        .slice(0, 5)
        .map((step) => step.fault);
      expect(first.sort()).toEqual(['cut', 'freeze', 'kill', 'kill', 'kill']);
    }
  });

  it('holds a transaction open on each topic, and makes that of webhooks anew, within two minutes', () => {
    for (const seed of SEEDS) {
      const steps = plan(seed, 120_000, ALL_FAULTS).filter(({ track }) => track === 'topics');
      const topicsOf = (name: string) =>
        new Set(steps.filter(({ fault: one }) => one === name).map(({ target }) => target));
      expect(topicsOf('foreign-transaction')).toEqual(new Set(TOPIC_TABLE.map(({ name }) => name)));
      expect(topicsOf('remake-topic')).toEqual(new Set([TOPICS.configurations]));
    }
  });

  it('does the same to the services whatever is done to the receivers', () => {
    const without = FAULTS.filter(({ track }) => track === 'system');
    const services = (steps: readonly Step[]): readonly Step[] =>
      steps.filter(({ track }) => track === 'system');
    for (const seed of SEEDS) expect(plan(seed, 120_000, without)).toEqual(services(plan(seed)));
  });

  it('is empty without faults', () => {
    expect(plan(1, 120_000, [])).toEqual([]);
  });

  it('is printed as a line for each step', () => {
    const steps: Step[] = [
      { track: 'system', fault: 'kill', target: 'kafka', atMs: 3_000, lastsMs: 0 },
      { track: 'system', fault: 'freeze', target: 'ingest', atMs: 64_250, lastsMs: 1_500 },
    ];
    expect(formatPlan(steps)).toEqual(['    3.0 s  kill kafka', '   64.3 s  freeze ingest for 1.5 s']);
  });
});

/** These faults hit nothing: they log. */
const NO_WORLD = {} as World;

const log: string[] = [];
beforeEach(() => void log.splice(0));

/** Says so many times that there is nothing to hit; what it hit comes back a turn later. */
function logging(name: string, notNow = 0): Fault {
  let requested = 0;
  const begin = (): Promise<End> => {
    requested += 1;
    if (requested <= notNow) return Promise.reject(new NotNow('it is being started'));
    log.push(`${name} breaks it`);
    return Promise.resolve(async () => {
      await setImmediate();
      log.push(`${name} is mended`);
    });
  };
  return { name, track: 'system', weight: 1, targets: ['it'], lasts: [0, 0], begin };
}

const stepOf = (fault: string, over: Partial<Step> = {}): Step => ({
  track: 'system',
  fault,
  target: 'it',
  atMs: 0,
  lastsMs: 0,
  ...over,
});

const run = (over: Partial<PlanRun>): PlanRun => ({
  steps: [],
  faults: [],
  world: NO_WORLD,
  startedAt: performance.now(),
  until: performance.now() + 10_000,
  stopping: new AbortController().signal,
  print: () => undefined,
  ...over,
});

it('a step does not wait until what was broken before it is up again, and is passed over when there is nothing to hit', async () => {
  const faults = [logging('one'), logging('two', 1), logging('three')];
  const steps = ['one', 'two', 'three'].map((name) => stepOf(name));
  const done = await runPlan(run({ steps, faults }));
  expect(done.map(({ outcome }) => outcome)).toEqual(['done', 'passed-over', 'done']);
  expect(log.slice(0, 2)).toEqual(['one breaks it', 'three breaks it']);
});

it('what does not come back has failed, and so has what nobody planned', async () => {
  const lost = { ...logging('lost'), begin: () => () => Promise.reject(new Error('gone for ever')) };
  const steps = ['lost', 'unknown'].map((name) => stepOf(name));
  const done = await runPlan(run({ steps, faults: [lost] }));
  expect(done.map(({ outcome, why }) => [outcome, why])).toEqual([
    ['failed', 'gone for ever'],
    ['failed', 'there is no such fault'],
  ]);
});

it('what has not begun when the time is over is left out', async () => {
  const steps = [stepOf('one'), stepOf('one', { atMs: 60 })];
  const done = await runPlan(run({ steps, faults: [logging('one')], until: performance.now() + 30 }));
  expect(done).toHaveLength(1);
});
