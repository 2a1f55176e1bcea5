import fc from 'fast-check';
import { toDelivery, toRow } from '../../src/delivery-log/delivery-documents.js';
import type { Delivery } from '../../src/delivery-log/delivery-state.js';
import { MAX_ATTEMPTS, mergeEntries } from '../../src/delivery-log/merge-entries.js';
import type { DeliveryEntry } from '../../src/delivery-log/merge-entries.js';
import { baseOf, T0 } from './support/entries.js';

/** Few values of each kind, so that ties, repeats and contradictions are common. */
const shared = {
  cycle: fc.constantFrom('0', 'r1', 'r2'),
  attempt: fc.integer({ min: 1, max: 4 }),
  at: fc.integer({ min: T0, max: T0 + 3 }),
  eventType: fc.constantFrom('PIX_OUT' as const, 'PIX_STATIC' as const),
  source: fc.record({
    topic: fc.constantFrom('payments.events', 'webhooks.retries.5s'),
    partition: fc.constant(0),
    offset: fc.constantFrom('7', '8'),
  }),
};
const nextAt = fc.integer({ min: T0 + 9, max: T0 + 11 });
const histories = fc.constantFrom('v1 1:5:6:503', 'v1 1:5:6:504', 'v1 1:5:6:503 2:7:8:TLS 2:7:9:TLS');
const {
  at: _at,
  cycle: _cycle,
  attempt: _attempt,
  source: _source,
  eventType: _type,
  ...identity
} = baseOf();

const withIdentity = <T extends object>(arbitrary: fc.Arbitrary<T>) =>
  arbitrary.map((entry) => ({ ...identity, ...entry }));

const anyEntry: fc.Arbitrary<DeliveryEntry> = fc.oneof(
  withIdentity(
    fc.record(
      {
        ...shared,
        kind: fc.constant('attempt' as const),
        durationMs: fc.constantFrom(1, 2.5),
        result: fc.constantFrom('failed' as const, 'delivered' as const),
        status: fc.constantFrom(200, 503),
        error: fc.constantFrom('TLS', 'DNS'),
        code: fc.constantFrom('CERT_HAS_EXPIRED', 'TLS_FAILED'),
        nextAt,
      },
      {
        requiredKeys: ['kind', 'cycle', 'attempt', 'at', 'eventType', 'source', 'durationMs', 'result'],
      },
    ),
  ),
  withIdentity(fc.record({ ...shared, kind: fc.constant('deferred' as const), nextAt })),
  withIdentity(
    fc.record({
      ...shared,
      kind: fc.constant('cancelled' as const),
      reason: fc.constantFrom('disabled', 'event-type-changed'),
    }),
  ),
  withIdentity(
    fc.record(
      {
        ...shared,
        kind: fc.constant('dead' as const),
        reason: fc.constantFrom('expired', 'attempts-exhausted'),
        history: histories,
      },
      { requiredKeys: ['kind', 'cycle', 'attempt', 'at', 'eventType', 'source', 'reason'] },
    ),
  ),
);

/** As it comes back from the database. */
const stored = (delivery: Delivery): Delivery => toDelivery(toRow(delivery, 1));

/** Told in another order, split in batches, each stored in between, and some of it once more. */
const told = (entries: readonly DeliveryEntry[]) =>
  fc.record({
    order: fc.shuffledSubarray([...entries], { minLength: entries.length }),
    cuts: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }),
    again: fc.shuffledSubarray([...entries]),
  });

function tell(entries: readonly DeliveryEntry[], cuts: readonly number[]): Delivery {
  let known: Delivery | undefined;
  let from = 0;
  for (let batch = 0; from < entries.length; batch += 1) {
    const size = cuts[batch % cuts.length] ?? 1;
    known = stored(mergeEntries(known, entries.slice(from, from + size)));
    from += size;
  }
  return known ?? mergeEntries(undefined, entries);
}

describe('what entries come to', () => {
  it('is the same in any order, split and repeated in any way (3,000 histories)', () => {
    fc.assert(
      fc.property(
        fc
          .array(anyEntry, { minLength: 1, maxLength: 12 })
          .chain((entries) => fc.tuple(fc.constant(entries), told(entries))),
        ([entries, { order, cuts, again }]) => {
          expect(tell([...order, ...again], cuts)).toEqual(mergeEntries(undefined, entries));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('is the same when there are more attempts than are kept (60 histories)', () => {
    const many = fc.uniqueArray(fc.integer({ min: 1, max: 600 }), {
      minLength: MAX_ATTEMPTS - 5,
      maxLength: 260,
    });
    // Each third attempt is reported by a dead letter, and each sixth also by the log.
    const entriesOf = (attempt: number): readonly DeliveryEntry[] => {
      const at = T0 + (attempt % 7);
      const shared = { ...baseOf(), attempt, at };
      const logged = { ...shared, kind: 'attempt', durationMs: attempt, result: 'failed' } as const;
      const history = `v1 ${attempt}:${at}:9:503`;
      const end = { ...shared, kind: 'dead', reason: 'expired', history } as const;
      return [...(attempt % 6 === 3 ? [] : [logged]), ...(attempt % 3 === 0 ? [end] : [])];
    };
    fc.assert(
      fc.property(
        many.chain((numbers) => {
          const entries = numbers.flatMap(entriesOf);
          return fc.tuple(fc.constant(numbers), fc.constant(entries), told(entries));
        }),
        ([numbers, entries, { order, cuts, again }]) => {
          const all = mergeEntries(undefined, entries);
          expect(all.truncated ?? false).toBe(numbers.length > MAX_ATTEMPTS);
          const batches = cuts.map((cut) => cut * 20);
          expect(tell([...order, ...again], batches)).toEqual(all);
        },
      ),
      { numRuns: 60 },
    );
  });
});
