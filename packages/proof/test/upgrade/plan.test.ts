import { INSTANCES, planSwitches, readArguments } from '../../src/upgrade/plan.js';

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed * 7_919);
const NAMES = INSTANCES.map(({ instance }) => instance).sort();

it('the plan is the same for the same seed, and another one for another seed', () => {
  for (const seed of SEEDS) expect(planSwitches(seed)).toEqual(planSwitches(seed));
  expect(new Set(SEEDS.map((seed) => JSON.stringify(planSwitches(seed)))).size).toBe(SEEDS.length);
});

it('each instance is switched forwards once, and when all are new, back once', () => {
  for (const seed of SEEDS) {
    const plan = planSwitches(seed);
    const namesOf = (to: string) => plan.filter((one) => one.to === to).map(({ instance }) => instance);
    expect(plan.map(({ to }) => to)).toEqual([...NAMES.map(() => 'new'), ...NAMES.map(() => 'old')]);
    expect(namesOf('new').sort()).toEqual(NAMES);
    expect(namesOf('old').sort()).toEqual(NAMES);
  }
});

it('there are two instances of each service, and any of them may be the first', () => {
  const counts = Object.groupBy(INSTANCES, ({ service }) => service);
  expect(Object.values(counts).map((own) => own.length)).toEqual([2, 2, 2, 2]);
  expect(new Set(SEEDS.map((seed) => planSwitches(seed)[0]?.instance)).size).toBe(NAMES.length);
});

const read = (...args: string[]) => readArguments(args, 77);

describe('the arguments', () => {
  it.each([
    [['--from', '0.9.0'], { from: '0.9.0', seed: 77, seeds: 1, eventsPerSecond: 500, help: false }],
    [['--from', 'HEAD~3', '--seed', '5', '--seeds', '10', '--rate', '100'], { seed: 5, seeds: 10 }],
    [['--help'], { help: true }],
  ])('%j', (args, expected) => {
    expect(read(...args)).toMatchObject(expected);
  });

  it.each([
    [[], '--from: expected a revision, such as 0.9.0'],
    [['--from', '0.9.0', '--seed', 'x'], '--seed: expected a whole number'],
    [['--from', '0.9.0', '--minutes', '2'], 'Unknown option'],
  ])('%j is refused: %s', (args, why) => {
    expect(() => read(...args)).toThrow(why);
  });
});
