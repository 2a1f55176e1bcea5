import { createTellLag } from '../../src/projection/tell-lag.js';
import type { Lag } from '../../src/projection/tell-lag.js';

type Line = readonly [level: string, message: string, fields: unknown];

/** A log that remembers its lines, and a clock that a test moves by whole seconds. */
function openRig() {
  const lines: Line[] = [];
  const line = (level: string) => (message: string, fields: unknown) =>
    void lines.push([level, message, fields]);
  const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  let nowMs = 1_000_000;
  const tell = createTellLag(log, () => nowMs);
  return {
    lines,
    /** Looks once a second, `seconds` times; gives the lines that were added. */
    look: (seconds: number, lag: (second: number) => Lag, projection = 'events'): readonly Line[] => {
      const before = lines.length;
      for (let second = 1; second <= seconds; second += 1) {
        nowMs += 1_000;
        tell(projection, lag(second));
      }
      return lines.slice(before);
    },
  };
}

const DONE: Lag = { lag: 0, oldestAgeMs: 0, inFlight: 0 };
/** Nothing is written: what was read grows older. */
const stuck =
  (fromSeconds = 0) =>
  (second: number): Lag => ({
    lag: 7,
    oldestAgeMs: (fromSeconds + second) * 1_000,
    inFlight: 4,
  });

const behind = (seconds: number, projection = 'events'): Line => [
  'warn',
  'a projection is behind',
  { projection, records: 7, seconds },
];

const caughtUp = (seconds: number, projection = 'events'): Line => [
  'info',
  'a projection has caught up',
  { projection, seconds },
];

it('a projection that is behind for 10 s and not longer is not told of', () => {
  const { look } = openRig();
  expect(look(10, stuck())).toEqual([]);
  expect(look(5, () => DONE)).toEqual([]);
});

it('one that stays behind is told of at once and every 30 s then, with its records and seconds', () => {
  const { look } = openRig();
  expect(look(100, stuck())).toEqual([behind(11), behind(41), behind(71)]);
});

it('one that has caught up is told of once, and when it falls behind anew that is told again', () => {
  const { look } = openRig();
  look(20, stuck());
  expect(look(5, () => DONE)).toEqual([caughtUp(21)]);
  expect(look(11, stuck())).toEqual([behind(11)]);
});

it('one with a long backlog has not caught up when nothing of it is held for a moment', () => {
  const { look } = openRig();
  look(11, stuck());
  expect(look(3, () => ({ lag: 100_000, oldestAgeMs: 0, inFlight: 0 }))).toEqual([]);
  expect(look(1, () => ({ lag: 100_000, oldestAgeMs: 2_000, inFlight: 4_000 }))).toEqual([]);
  expect(look(1, () => ({ lag: 30, oldestAgeMs: 20, inFlight: 30 }))).toEqual([caughtUp(16)]);
});

it('each projection is told of by itself', () => {
  const { look } = openRig();
  expect(look(11, stuck(), 'events')).toEqual([behind(11)]);
  expect(look(11, stuck(), 'attempts')).toEqual([behind(11, 'attempts')]);
  expect(look(1, () => DONE, 'health')).toEqual([]);
  expect(look(1, () => DONE, 'attempts')).toEqual([caughtUp(13, 'attempts')]);
});
