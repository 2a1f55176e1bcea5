import { setImmediate } from 'node:timers/promises';
import { NotNow } from '../src/fault.js';
import type { End, Fault } from '../src/fault.js';
import type { Step } from '../src/plan/plan.js';
import { runPlan } from '../src/run-plan.js';
import type { PlanRun } from '../src/run-plan.js';
import type { World } from '../src/world/world.js';

/** These faults hit nothing: they tell. */
const NO_WORLD = {} as World;

const told: string[] = [];
beforeEach(() => void told.splice(0));

/** Says so many times that there is nothing to hit; what it hit comes back a turn later. */
function telling(name: string, notNow = 0): Fault {
  let asked = 0;
  const begin = (): Promise<End> => {
    asked += 1;
    if (asked <= notNow) return Promise.reject(new NotNow('it is being started'));
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
  countAccepted: () => 0,
  startedAt: performance.now(),
  until: performance.now() + 10_000,
  stopping: new AbortController().signal,
  print: () => undefined,
  ...over,
});

describe('a patient step', () => {
  it('waits for what was broken before it, then for further events, then for what it hits', async () => {
    let accepted = 5;
    const countAccepted = (): number => {
      told.push(`accepted ${accepted}`);
      return accepted++;
    };
    const faults = [telling('one'), telling('two', 2)];
    const steps = [stepOf('one'), stepOf('two', { afterEvents: 2 })];
    const done = await runPlan(run({ steps, faults, countAccepted }));
    expect(done.map(({ fault, outcome }) => `${fault} ${outcome}`)).toEqual(['one done', 'two done']);
    expect(told).toEqual([
      'one breaks it',
      'one is mended',
      'accepted 5',
      'accepted 6',
      'accepted 7',
      'two breaks it',
      'two is mended',
    ]);
  });

  it('is left out when its events do not come in time', async () => {
    const steps = [stepOf('one', { afterEvents: 1 })];
    const done = await runPlan(run({ steps, faults: [telling('one')], until: performance.now() + 120 }));
    expect([done, told]).toEqual([[], []]);
  });
});

it('another step does not wait for those before it, and is passed over when there is nothing to hit', async () => {
  const faults = [telling('one'), telling('two', 1), telling('three')];
  const steps = ['one', 'two', 'three'].map((name) => stepOf(name));
  const done = await runPlan(run({ steps, faults }));
  expect(done.map(({ outcome }) => outcome)).toEqual(['done', 'passed-over', 'done']);
  expect(told.slice(0, 2)).toEqual(['one breaks it', 'three breaks it']);
});
