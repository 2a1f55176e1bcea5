import type { DeliveryFilter, DeliverySummary } from '@webhooks/client';
import { plannedDelivery, typeOfEndpoint } from '../../../src/bench/query/attempt-log.js';
import type { LogPlan } from '../../../src/bench/query/attempt-log.js';
import { queriesOfLog } from '../../../src/bench/query/queries.js';

const PLAN: LogPlan = {
  tenantId: 'acme',
  deliveries: 2_000,
  refs: Array.from({ length: 4 }, (_, index) => `ref-${index}`),
  from: 1_795_000_000_000,
  to: 1_795_003_600_000,
};
const ROWS = Array.from({ length: PLAN.deliveries }, (_, index) => {
  const { createdAt, attempts, ...known } = plannedDelivery(PLAN, index);
  const at = new Date(createdAt).toISOString();
  return { ...known, count: attempts, createdAt: at, updatedAt: at, cycle: '0', redelivery: false };
});
const TURNS = Array.from({ length: 200 }, (_, turn) => turn);

/** The responses of a service that knows the log, changed by `spoil`. */
function respondingFrom(
  spoil: (row: DeliverySummary) => DeliverySummary = (row) => row,
): Parameters<typeof queriesOfLog>[0] {
  const refuse = (): never => {
    throw new Error('nobody asks for that');
  };
  const matches = (row: DeliverySummary, { from, to, ...filter }: DeliveryFilter): boolean =>
    (from === undefined || row.createdAt >= from) &&
    (to === undefined || row.createdAt < to) &&
    Object.entries(filter).every(([name, value]) => row[name as keyof DeliverySummary] === value);
  const hour = { from: '2026-11-21T14:00:00.000Z', attempts: 7 };
  return {
    charge: refuse,
    transaction: refuse,
    deliveries: (filter = {}) => {
      const data = ROWS.filter((row) => matches(row, filter)).slice(0, 50);
      return Promise.resolve({ data: data.map(spoil), results: data.length });
    },
    delivery: (deliveryId) => {
      const found = ROWS.find((row) => row.deliveryId === deliveryId) ?? refuse();
      const { cycle, redelivery, createdAt: at } = found;
      const attempt = { cycle, redelivery, at, durationMs: 1, result: 'delivered' } as const;
      const attempts = Array.from({ length: found.count }, (_, index) => ({
        ...attempt,
        attempt: index + 1,
      }));
      return Promise.resolve({ ...spoil(found), attempts });
    },
    health: (ref) => Promise.resolve({ ref, state: 'healthy', lastHour: hour, lastDay: hour, failures: [] }),
  };
}

describe('the documented queries', () => {
  it.each(queriesOfLog(respondingFrom(), PLAN))(
    '$name: a right response counts as right',
    async ({ run }) => {
      const right = await Promise.all(TURNS.map((turn) => run(turn)));
      expect(right.every(Boolean)).toBe(true);
    },
  );

  const other = respondingFrom((row) => ({
    ...row,
    ref: 'another',
    eventId: 'evt_another',
    eventType: typeOfEndpoint(row.eventType === typeOfEndpoint(0) ? 1 : 0),
    status: 'cancelled',
  }));
  const ofRows = queriesOfLog(other, PLAN).filter(({ name }) => !name.startsWith('health'));

  it.each(ofRows)('$name: the response to another query counts as wrong', async ({ run }) => {
    const right = await Promise.all(TURNS.map((turn) => run(turn)));
    expect(right.some(Boolean)).toBe(false);
  });
});
