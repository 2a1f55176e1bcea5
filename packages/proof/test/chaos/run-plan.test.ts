import { setImmediate } from 'node:timers/promises';
import { NotNow } from '../../src/chaos/fault.js';
import type { End, Fault } from '../../src/chaos/fault.js';
import type { Step } from '../../src/chaos/plan.js';
import { runPlan } from '../../src/chaos/run-plan.js';
import type { PlanRun } from '../../src/chaos/run-plan.js';
import type { World } from '../../src/chaos/world/world.js';

/** These faults hit nothing: they tell. */
const NO_WORLD = {} as World;

const told: string[] = [];
beforeEach(() => void told.splice(0));

/** Says so many times that there is nothing to hit; what it hit comes back a turn later. */
function telling(name: string, notNow = 0): Fault {
  let requested = 0;
  const begin = (): Promise<End> => {
    requested += 1;
    if (requested <= notNow) return Promise.reject(new NotNow('it is being started'));
    told.push(`${name} breaks it`);
    return Promise.resolve(async () => {
      await setImmediate();
      told.push(`${name} is mended`);
    });
  };
  return { name, lane: 'system', weight: 1, targets: ['it'], lasts: [0, 0], begin };
}

const stepOf = (fault: string, over: Partial<Step> = {}): Step => ({
  lane: 'system',
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
  const faults = [telling('one'), telling('two', 1), telling('three')];
  const steps = ['one', 'two', 'three'].map((name) => stepOf(name));
  const done = await runPlan(run({ steps, faults }));
  expect(done.map(({ outcome }) => outcome)).toEqual(['done', 'passed-over', 'done']);
  expect(told.slice(0, 2)).toEqual(['one breaks it', 'three breaks it']);
});

it('what does not come back has failed, and so has what nobody planned', async () => {
  const lost = { ...telling('lost'), begin: () => () => Promise.reject(new Error('gone for ever')) };
  const steps = ['lost', 'unknown'].map((name) => stepOf(name));
  const done = await runPlan(run({ steps, faults: [lost] }));
  expect(done.map(({ outcome, why }) => [outcome, why])).toEqual([
    ['failed', 'gone for ever'],
    ['failed', 'there is no such fault'],
  ]);
});

it('what has not begun when the time is over is left out', async () => {
  const steps = [stepOf('one'), stepOf('one', { atMs: 60 })];
  const done = await runPlan(run({ steps, faults: [telling('one')], until: performance.now() + 30 }));
  expect(done).toHaveLength(1);
});
