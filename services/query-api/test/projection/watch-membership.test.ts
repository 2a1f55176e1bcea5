import { createNoteMembership, faultOfStuck } from '../../src/projection/watch-membership.js';
import type { Membership } from '../../src/projection/watch-membership.js';

const runningOf = (health: Readonly<Record<string, Membership>>) =>
  new Map(Object.entries(health).map(([name, one]) => [name, { health: () => one }]));

const member = (over: Partial<Membership> = {}): Membership => ({
  joined: true,
  inFlight: 0,
  lastProgressAt: 0,
  ...over,
});
const MEMBER = member();
const NONE = member({ joined: false });

/** A log that remembers its lines, and a clock that moves by a second with each look. */
function openRig() {
  const lines: string[] = [];
  const line = (message: string) => void lines.push(message);
  let nowMs = 1_000_000;
  const note = createNoteMembership({ debug: line, info: line, warn: line, error: line }, () => nowMs);
  return {
    lines,
    look: (seconds: number, health: Readonly<Record<string, Membership>>): readonly string[] => {
      let lost: readonly string[] = [];
      for (let second = 0; second < seconds; second += 1) {
        nowMs += 1_000;
        lost = note(runningOf(health));
      }
      return lost;
    },
  };
}

const LOST = 'the projection is not a member of its group: nothing is read';
const BACK = 'the projection is a member of its group again';

it('a projection that lost its group is told of once, and is a fault after 15 s', () => {
  const { lines, look } = openRig();
  expect(look(5, { events: MEMBER, health: MEMBER })).toEqual([]);
  expect(look(16, { events: NONE, health: MEMBER })).toEqual([]);
  expect(look(1, { events: NONE, health: MEMBER })).toEqual(['events']);
  expect(lines).toEqual([LOST]);
});

it('one that is a member again is no fault any more', () => {
  const { lines, look } = openRig();
  look(20, { events: NONE });
  expect(look(1, { events: MEMBER })).toEqual([]);
  expect(look(16, { events: NONE })).toEqual([]);
  expect(lines).toEqual([LOST, BACK, LOST]);
});

it('one that ended for a new generation is no fault', () => {
  const { look } = openRig();
  expect(look(20, { events: NONE })).toEqual(['events']);
  expect(look(1, {})).toEqual([]);
});

it.each<[string, Membership, string | undefined]>([
  ['hears of its broker', member({ lastProgressAt: 90_000 }), undefined],
  ['holds nothing and hears nothing for more than two minutes', MEMBER, 'no progress: events'],
  ['holds records that cannot be written', member({ inFlight: 7 }), undefined],
  ['is not a member, which is told elsewhere', NONE, undefined],
])('a projection that %s', (_name, health, fault) => {
  expect(faultOfStuck(runningOf({ events: health }), 130_000)).toBe(fault);
});
