import { deliveryIdOf, encodeAttemptPack, parseAttemptPack } from '@webhooks/contracts';
import type { AttemptLogEntry } from '@webhooks/contracts';
import { deliveriesFor, makeLog, plannedDelivery, totalsOf } from '../../src/load/make-log.js';
import type { LogPlan } from '../../src/load/make-log.js';

const refOf = (place: number): string => `0191e7a2-0000-7000-8000-00000000000${place}`;
const TYPES = ['PIX_OUT', 'PIX_OUT', 'PIX_STATIC', 'PIX_STATIC'] as const;
const PLAN: LogPlan = {
  tenantId: 'acme',
  deliveries: 12_000,
  endpoints: TYPES.map((eventType, place) => ({ ref: refOf(place), eventType })),
  from: 1_795_000_000_000,
  to: 1_795_003_600_000,
};

const planned = Array.from({ length: PLAN.deliveries }, (_, index) => plannedDelivery(PLAN, index));
const entries = [...makeLog(PLAN)];
const ofDelivery = Map.groupBy(entries, ({ deliveryId }) => deliveryId);

/** What the entries of one delivery come to. */
function toldBy(told: readonly AttemptLogEntry[] = []) {
  const attempts = told.filter(({ kind }) => kind === 'attempt').length;
  const isDead = told.some(({ kind }) => kind === 'dead');
  const isDelivered = told.some((entry) => entry.kind === 'attempt' && entry.result === 'delivered');
  return { attempts, status: isDead ? 'dead' : isDelivered ? 'delivered' : 'pending' };
}

describe('a log that is made', () => {
  it('tells of each delivery what is known to be asked for', () => {
    expect(ofDelivery.size).toBe(PLAN.deliveries);
    for (const { deliveryId, status, attempts } of planned)
      expect(toldBy(ofDelivery.get(deliveryId))).toEqual({ status, attempts });
  });

  it('has the totals that its ledger is held against', () => {
    const attempts = entries.filter(({ kind }) => kind === 'attempt').length;
    const dead = entries.length - attempts;
    expect(totalsOf(PLAN.deliveries)).toEqual({ attempts, dead, delivered: PLAN.deliveries - dead });
    expect(dead).toBeGreaterThan(200);
    expect(attempts).toBeGreaterThan(PLAN.deliveries + 900);
  });

  it('is one that readers take: whole packs, in the order of time, with the ids of their deliveries', () => {
    const read = parseAttemptPack(encodeAttemptPack(entries));
    expect(read).toEqual({ ok: true, damaged: 0, pack: { v: 1, records: entries } });
    const times = entries.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((left, right) => left - right));
    expect(Math.max(...times)).toBeLessThanOrEqual(PLAN.to);
    for (const { deliveryId, tenantId, ref, eventId } of entries.slice(0, 100))
      expect(deliveryId).toBe(deliveryIdOf(tenantId, ref, eventId));
  });

  it('brings a second attempt long after the first, so that it finds a document', () => {
    const places = new Map<string, number>();
    for (const [place, { deliveryId, kind }] of entries.entries()) {
      const first = places.get(deliveryId);
      if (first === undefined) places.set(deliveryId, place);
      else if (kind === 'attempt' && place < PLAN.deliveries) expect(place - first).toBeGreaterThan(9_000);
    }
  });

  it('gives each event to both endpoints of a pair, and every endpoint some of everything', () => {
    for (const [eventId, both] of Map.groupBy(planned, (one) => one.eventId))
      expect([eventId, both.length, new Set(both.map(({ eventType }) => eventType)).size]).toEqual([
        eventId,
        2,
        1,
      ]);
    for (const [ref, some] of Map.groupBy(planned, (one) => one.ref)) {
      const kinds = new Set(some.map(({ status, attempts }) => `${status} ${attempts}`));
      expect([ref, kinds.size]).toEqual([ref, 3]);
    }
  });

  it.each([1, 50, 10_000, 50_000, 1_000_000])(
    'comes to about %s attempts when it is asked for so many',
    (count) => {
      const deliveries = deliveriesFor(count);
      expect(deliveries % 2).toBe(0);
      expect(Math.abs(totalsOf(deliveries).attempts - count)).toBeLessThanOrEqual(3);
    },
  );
});
