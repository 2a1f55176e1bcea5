import { deliveryIdOf, encodeAttemptPack, parseAttemptPack } from '@webhooks/contracts';
import { makeLog, plannedDelivery } from '../../../src/bench/query/attempt-log.js';
import type { LogPlan } from '../../../src/bench/query/attempt-log.js';

const PLAN: LogPlan = {
  tenantId: 'acme',
  deliveries: 12_000,
  refs: Array.from({ length: 20 }, (_, index) => `ref-${index}`),
  from: 1_795_000_000_000,
  to: 1_795_003_600_000,
};

const planned = Array.from({ length: PLAN.deliveries }, (_, index) => plannedDelivery(PLAN, index));
const entries = makeLog(PLAN);

describe('a log that is made', () => {
  it('says of each delivery what the queries expect', () => {
    const ofDelivery = Map.groupBy(entries, ({ deliveryId }) => deliveryId);
    expect(ofDelivery.size).toBe(PLAN.deliveries);
    for (const { deliveryId, status, attempts } of planned) {
      const logged = ofDelivery.get(deliveryId) ?? [];
      const isDead = logged.some(({ kind }) => kind === 'dead');
      const isDelivered = logged.some((entry) => entry.kind === 'attempt' && entry.result === 'delivered');
      expect([isDead, isDelivered]).toEqual([status === 'dead', status === 'delivered']);
      expect(logged.filter(({ kind }) => kind === 'attempt')).toHaveLength(attempts);
    }
  });

  it('can be read: whole packs, in the order of time, with the ids of their deliveries', () => {
    const { records, ...rest } = entriesRead();
    expect(rest).toEqual({ damaged: 0 });
    // Readers keep the members of the format.
    expect(records).toHaveLength(entries.length);
    const times = entries.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((left, right) => left - right));
    expect(Math.max(...times)).toBeLessThanOrEqual(PLAN.to);
    for (const { deliveryId, tenantId, ref, eventId } of entries.slice(0, 100))
      expect(deliveryId).toBe(deliveryIdOf(tenantId, ref, eventId));
  });

  it('gives every endpoint retries and dead deliveries', () => {
    for (const [ref, some] of Map.groupBy(planned, (one) => one.ref)) {
      const kinds = new Set(some.map(({ status, attempts }) => `${status} ${attempts}`));
      expect([ref, kinds.size]).toEqual([ref, 3]);
    }
  });
});

function entriesRead() {
  const read = parseAttemptPack(encodeAttemptPack(entries));
  if (!read.ok) throw new Error(read.reason);
  return { damaged: read.damaged, records: read.records };
}
