import type { DeliveryFilter, DeliverySummary } from '@webhooks/client';
import { queriesOfHealth, queriesOfLog } from '../../src/load/log-queries.js';
import type { LogQuery } from '../../src/load/log-queries.js';
import { plannedDelivery } from '../../src/load/make-log.js';
import type { LogPlan } from '../../src/load/make-log.js';

const TYPES = ['PIX_OUT', 'PIX_OUT', 'PIX_STATIC', 'PIX_STATIC'] as const;
const PLAN: LogPlan = {
  tenantId: 'acme',
  deliveries: 2_000,
  endpoints: TYPES.map((eventType, place) => ({ ref: `ref-${place}`, eventType })),
  from: 1_795_000_000_000,
  to: 1_795_003_600_000,
};
const ROWS = Array.from({ length: PLAN.deliveries }, (_, index) => {
  const { createdAt, attempts, ...known } = plannedDelivery(PLAN, index);
  return { ...known, count: attempts, createdAt: new Date(createdAt).toISOString() };
});
type Client = Parameters<LogQuery['ask']>[0];

/** What a service would answer that knows the log, changed by `spoil`. */
function answering(spoil: (row: DeliverySummary) => DeliverySummary = (row) => row): Client {
  const refuse = (): never => {
    throw new Error('nobody asks for that');
  };
  const matches = (row: DeliverySummary, { from, to, ...filter }: DeliveryFilter): boolean =>
    (from === undefined || row.createdAt >= from) &&
    (to === undefined || row.createdAt < to) &&
    Object.entries(filter).every(([name, value]) => row[name as keyof DeliverySummary] === value);
  const hour = { attempts: 7 };
  return {
    charge: refuse,
    transaction: refuse,
    deliveries: (filter = {}) => {
      const data = ROWS.filter((row) => matches(row, filter))
        .slice(0, 50)
        .map(spoil);
      return Promise.resolve({ data, results: data.length });
    },
    delivery: (deliveryId) => {
      const found = ROWS.find((row) => row.deliveryId === deliveryId) ?? refuse();
      const attempt = { cycle: '0', at: found.createdAt, durationMs: 1, result: 'delivered' };
      const attempts = Array.from({ length: found.count }, (_, index) => ({
        ...attempt,
        attempt: index + 1,
      }));
      return Promise.resolve({ ...spoil(found), attempts });
    },
    health: (ref) => Promise.resolve({ ref, state: 'healthy', lastHour: hour, lastDay: hour, failures: [] }),
  };
}

const QUERIES = queriesOfLog(PLAN);
const TURNS = Array.from({ length: 200 }, (_, turn) => turn);

describe('the documented queries', () => {
  it.each([...QUERIES, ...queriesOfHealth(PLAN)])(
    '$name: takes the right answers for right',
    async ({ ask }) => {
      const right = await Promise.all(TURNS.map((turn) => ask(answering(), turn)));
      expect(right.every(Boolean)).toBe(true);
    },
  );

  it.each(QUERIES)('$name: takes the answer to another question for wrong', async ({ ask }) => {
    const other = answering((row) => ({
      ...row,
      ref: 'another',
      eventId: 'evt_another',
      eventType: 'PIX_REVERSAL',
      status: 'cancelled',
    }));
    const right = await Promise.all(TURNS.map((turn) => ask(other, turn)));
    expect(right.some(Boolean)).toBe(false);
  });
});
