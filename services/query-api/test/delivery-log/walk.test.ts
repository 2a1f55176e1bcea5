import { randomName } from '@webhooks/testkit';
import fc from 'fast-check';
import type { PlaceRange } from '../../src/delivery-log/access-path.js';
import { addMilestones, findMilestone } from '../../src/delivery-log/milestones.js';
import { FINE, milestonesOf } from '../../src/delivery-log/milestone-model.js';
import { FIRST_PLACE, LAST_PLACE, after, placeOf } from '../../src/delivery-log/place.js';
import { walk } from '../../src/delivery-log/walk.js';
import type { Direction } from '../../src/delivery-log/walk.js';
import { T0, baseOf, delivered, packRecord } from './support/entries.js';
import { openLog } from './support/open-log.js';

const DIRECTIONS = ['newest-first', 'oldest-first'] as const;
const ALL: PlaceRange = { low: FIRST_PLACE, high: LAST_PLACE };

/** Places in memory, some of them milestones, and a diary of how many places each window held. */
function openPlaces(places: readonly string[], isMark: (place: string) => boolean, direction: Direction) {
  const ordered = direction === 'newest-first' ? places.toSorted().toReversed() : places.toSorted();
  const within = ({ low, high }: PlaceRange): readonly string[] =>
    ordered.filter((place) => place >= low && place < high);
  const held: number[] = [];
  return {
    ordered,
    held,
    milestone: (range: PlaceRange, count: number) => Promise.resolve(within(range).filter(isMark)[count - 1]),
    read: (range: PlaceRange, limit: number) => {
      held.push(within(range).length);
      const rows = within(range).slice(0, limit);
      return Promise.resolve(rows.map((place) => ({ place })));
    },
  };
}

const at = (ms: number): string => placeOf(ms, 'a'.repeat(52));

describe('a walk', () => {
  it.each(DIRECTIONS)(
    'comes by every place once and in order, %s, whatever the milestones are',
    async (direction) => {
      const history = fc.record({
        times: fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
        marks: fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
        firstCount: fc.integer({ min: 1, max: 3 }),
        limits: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      });
      await fc.assert(
        fc.asyncProperty(history, async ({ times, marks, firstCount, limits }) => {
          const isMark = new Set(marks.map(at));
          const places = openPlaces(times.map(at), (place) => isMark.has(place), direction);
          const seen: string[] = [];
          let asked = 0;
          const want = () => limits[(asked += 1) % limits.length] ?? 1;
          const take = (rows: readonly { readonly place: string }[]) => {
            seen.push(...rows.map(({ place }) => place));
          };
          expect(await walk(ALL, direction, { ...places, firstCount, want, take })).toBe(true);
          expect(seen).toEqual(places.ordered);
        }),
        { numRuns: 300 },
      );
    },
  );

  it.each(DIRECTIONS)(
    'looks at a part of a crowd only, %s, though nothing lies near its end',
    async (direction) => {
      const crowd = Array.from(
        { length: 5_000 },
        (_, index) => at(T0 + Math.floor(index / 40)).slice(0, -4) + String(index).padStart(4, '2'),
      );
      const places = openPlaces(crowd, (place) => place.endsWith('00'), direction);
      let left = 50;
      const take = (rows: readonly unknown[]) => {
        left -= rows.length;
      };
      const ended = await walk(ALL, direction, { ...places, firstCount: 4, want: () => left, take });
      expect(ended).toBe(false);
      expect(left).toBe(0);
      expect(Math.max(...places.held)).toBeLessThanOrEqual(500);
    },
  );
});

describe('milestones', () => {
  it('are the places of one delivery in 32 or so, told of with its first attempt', async () => {
    const log = await openLog(randomName('query_log'));
    // Ids are digests: always the same ones are milestones of this tenant.
    const tenantId = 'acme';
    const entries = Array.from({ length: 1_000 }, (_, index) =>
      delivered({ at: T0 + index }, { tenantId, eventId: `evt_${index}` }),
    );
    const marks = entries.filter(({ deliveryId, at }) => milestonesOf(tenantId, deliveryId, at).length > 0);
    const records = [entries.slice(0, 500), entries.slice(500)].map((part) => packRecord(...part));
    await log.apply(...records);
    await log.apply(...records);
    const places = marks.map((entry) =>
      placeOf(entry.at, baseOf({ tenantId, eventId: entry.eventId }).deliveryId),
    );
    expect(Math.abs(places.length - entries.length / FINE)).toBeLessThan(20);
    const find = (direction: Direction, count: number) =>
      findMilestone((statement) => statement(log.models), tenantId, ALL, { direction, count });
    expect(await find('oldest-first', 1)).toBe(places[0]);
    expect(await find('newest-first', 1)).toBe(places.at(-1));
    expect(await find('newest-first', places.length)).toBe(places[0]);
    expect(await find('newest-first', places.length + 1)).toBeUndefined();
    await log.close();
  });

  it.each(DIRECTIONS)('are found by the coarse ones, %s, without looking at all', async (direction) => {
    const log = await openLog(randomName('query_log'));
    const tenantId = 'acme';
    // Every fiftieth of these is a coarse one.
    const ids = Array.from({ length: 1_000 }, (_, index) =>
      (index % 50 === 0 ? 'aaaa' : 'ab22').padEnd(52, 'b'),
    );
    const entries = ids.map((deliveryId, index) => ({
      ...delivered({ at: T0 + index }, { tenantId, eventId: `evt_${index}` }),
      deliveryId,
    }));
    await addMilestones((statement) => statement(log.models), entries);
    const places = entries.map(({ at, deliveryId }) => placeOf(at, deliveryId));
    const ordered = direction === 'oldest-first' ? places : places.toReversed();
    const coarse = ordered.filter((place) => place.slice(10).startsWith('aaaa'));
    const find = (count: number, range: PlaceRange = ALL) =>
      findMilestone((statement) => statement(log.models), tenantId, range, { direction, count });
    expect(await find(1)).toBe(ordered[0]);
    expect(await find(45)).toBe(ordered[44]);
    // The second coarse one comes before so many have come: it ends the window.
    const behind = ordered.slice(49);
    const part =
      direction === 'oldest-first'
        ? { low: behind[0] ?? '', high: LAST_PLACE }
        : { low: FIRST_PLACE, high: after(behind[0] ?? '') };
    expect(await find(63, part)).toBe(behind.filter((place) => coarse.includes(place))[1]);
    expect(await find(64)).toBe(coarse[1]);
    expect(await find(300)).toBe(coarse[4]);
    // More than the range has coarse ones.
    expect(await find(64 * 30)).toBeUndefined();
    await log.close();
  });
});
