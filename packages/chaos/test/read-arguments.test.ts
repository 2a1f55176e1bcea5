import { readArguments } from '../src/read-arguments.js';

const read = (...args: string[]) =>
  readArguments(args, { faults: ['kill', 'freeze'], bugs: ['heap-lost'] }, 77);

describe('the arguments', () => {
  it.each([
    [[], { seed: 77, minutes: 2, faults: [], eventsPerSecond: 60, help: false }],
    [['--seed', '5', '--minutes', '0.5'], { seed: 5, minutes: 0.5 }],
    [['--faults', 'freeze,kill', '--rate', '100'], { faults: ['freeze', 'kill'], eventsPerSecond: 100 }],
    [[], { fuzz: false, doors: '', from: 0 }],
    [['--fuzz', '--doors', 'ingest,topics', '--from', '7'], { fuzz: true, doors: 'ingest,topics', from: 7 }],
    [['--seeds', '10'], { seeds: 10 }],
    [['--help'], { help: true, seeds: 1 }],
    [['--planted'], { planted: [] }],
    [['--planted', 'heap-lost'], { planted: ['heap-lost'] }],
  ])('%j', (args, expected) => {
    expect(read(...args)).toMatchObject(expected);
  });

  it.each([
    [['--seed', 'x'], '--seed: expected a number from 0 to 4294967295'],
    [['--seed', '1.5'], '--seed: expected a whole number'],
    [['--seed', ''], '--seed: expected a number'],
    [['--seeds', '0'], '--seeds: expected a number from 1 to 1000'],
    [['--minutes', '0'], '--minutes: expected a number from 0.1 to 1440'],
    [['--from', '-1'], '--from'],
    [['--rate', '5000'], '--rate: expected a number from 1 to 1000'],
    [['--faults', 'kill,flood'], 'unknown fault flood; there are: kill, freeze'],
    [['--sed', '1'], 'Unknown option'],
    [['--planted', 'heap-last'], 'unknown planted bug heap-last; there are: heap-lost'],
    [['--doors', 'ingest'], '--doors: means nothing without --fuzz'],
    [['--fuzz', '--faults', 'kill'], '--faults: means nothing with --fuzz'],
    [['--planted', '--seeds', '3'], '--seeds: means nothing with --planted'],
    [['--faults', ''], '--faults: expected names separated by commas'],
    [['heap-lost'], 'does not take positional arguments'],
  ])('%j is refused: %s', (args, why) => {
    expect(() => read(...args)).toThrow(why);
  });
});
