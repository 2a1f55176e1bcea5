import { readArguments } from '../../src/chaos/read-arguments.js';

const read = (...args: string[]) => readArguments(args, ['kill', 'freeze'], 77);

describe('the arguments', () => {
  it.each([
    [[], { seed: 77, seeds: 1, minutes: 2, faults: [], eventsPerSecond: 500, help: false }],
    [['--seed', '5', '--minutes', '0.5'], { seed: 5, minutes: 0.5 }],
    [['--faults', 'freeze,kill', '--rate', '100'], { faults: ['freeze', 'kill'], eventsPerSecond: 100 }],
    [['--seeds', '10'], { seeds: 10 }],
    [['--help'], { help: true }],
  ])('%j', (args, expected) => {
    expect(read(...args)).toMatchObject(expected);
  });

  it.each([
    [['--seed', 'x'], '--seed: expected a whole number from 0 to 4294967295'],
    [['--seed', '1.5'], '--seed: expected a whole number'],
    [['--seed', ''], '--seed: expected a whole number'],
    [['--seeds', '0'], '--seeds: expected a whole number from 1 to 1000'],
    [['--minutes', '0'], '--minutes: expected a number from 0.1 to 1440'],
    [['--rate', '5000'], '--rate: expected a whole number from 1 to 1000'],
    [['--faults', 'kill,flood'], 'unknown fault flood; there are: kill, freeze'],
    [['--faults', ''], 'unknown fault'],
    [['--sed', '1'], 'Unknown option'],
    [['kill'], 'does not take positional arguments'],
  ])('%j is refused: %s', (args, why) => {
    expect(() => read(...args)).toThrow(why);
  });
});
