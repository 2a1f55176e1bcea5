import { StickyPartitioner } from '../src/sticky-partitioner.js';

interface Step {
  readonly size?: number;
  readonly sent?: boolean;
}

/** Partitions of records that are placed one after another; `sent`: what waited before has left. */
function place(steps: readonly Step[], partitions = 12): number[] {
  const sticky = new StickyPartitioner();
  return steps.map(({ size = 100, sent = false }) =>
    sticky.choose({ topic: 'a', partitions, size, isEmpty: () => sent }),
  );
}

const distances = (places: readonly number[], partitions = 12): number[] =>
  places.map((partition) => (partition - (places[0] ?? 0) + partitions) % partitions);

describe('sticky partitioner', () => {
  it('keeps to a partition while its batch waits, and goes on to the next when it has left', () => {
    const places = place([{}, {}, {}, { sent: true }, {}, { sent: true }]);
    expect(distances(places)).toEqual([0, 0, 0, 1, 1, 2]);
  });

  it('goes on when 64 records wait', () => {
    const places = distances(place(Array.from({ length: 130 }, () => ({}))));
    expect([places[63], places[64], places[127], places[128]]).toEqual([0, 1, 1, 2]);
  });

  it('goes on when 64 KiB wait, but gives a larger record a partition all the same', () => {
    const kib = 1_024;
    const places = place([{ size: 40 * kib }, { size: 24 * kib }, {}, { size: 500 * kib }, {}]);
    expect(distances(places)).toEqual([0, 0, 1, 2, 3]);
  });

  it('comes round, and takes partitions that were added', () => {
    const sticky = new StickyPartitioner();
    const next = (partitions: number): number =>
      sticky.choose({ topic: 'a', partitions, size: 1, isEmpty: () => true });
    const two = Array.from({ length: 4 }, () => next(2));
    expect(distances(two, 2)).toEqual([0, 1, 0, 1]);
    expect(new Set(Array.from({ length: 5 }, () => next(5)))).toEqual(new Set([0, 1, 2, 3, 4]));
  });

  it('keeps each topic apart', () => {
    const sticky = new StickyPartitioner();
    const choose = (topic: string, isEmpty: boolean): number =>
      sticky.choose({ topic, partitions: 12, size: 1, isEmpty: () => isEmpty });
    const first = choose('a', false);
    choose('b', true);
    choose('b', true);
    expect(choose('a', false)).toBe(first);
  });
});
