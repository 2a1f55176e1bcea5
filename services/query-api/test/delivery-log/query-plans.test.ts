import { randomName } from '@webhooks/testkit';
import { conditionsOf } from '../../src/delivery-log/delivery-store.js';
import type { DeliveryFilter } from '../../src/delivery-log/delivery-store.js';
import { entriesOf, everyFilter, fill } from './support/generated-log.js';
import { openLog } from './support/open-log.js';
import type { OpenLog } from './support/open-log.js';

const BASE = Date.now() - 3_600_000;
const TENANT = randomName('tenant');
let log: OpenLog;
beforeAll(async () => {
  log = await openLog(randomName('query_log'));
  await fill(log, entriesOf(TENANT, BASE, 1));
});
afterAll(() => log.close());

const FILTERS = everyFilter(new Date(BASE - 30_000), new Date(BASE - 2));
const NEWEST = { order: 'newest-first' } as const;

const conditions = ({ eventId, ...rest }: DeliveryFilter) =>
  conditionsOf(TENANT, eventId === undefined ? rest : { ...rest, eventIds: [eventId] }, NEWEST);
const fieldsOf = (value: object): string => Object.keys(value).join(' ');

/** The index of a filter: by the event, else by endpoint, status and time. The type, and that it is delivered, is looked at in the documents. */
function indexOf({ eventId, ref, status }: DeliveryFilter): string {
  if (eventId !== undefined) return 'tenantId eventId';
  const isRare = status !== undefined && status !== 'delivered';
  return ['tenantId', ...(ref ? ['ref'] : []), ...(isRare ? ['undelivered'] : []), 'place'].join(' ');
}

const documented = () => log.models.deliveries.schema.indexes();

it('every index is that of a documented query, or of the retention', () => {
  const needed = new Set([...FILTERS.map(indexOf), 'updatedAt']);
  expect(new Set(documented().map(([fields]) => fieldsOf(fields)))).toEqual(needed);
});

interface Stage {
  readonly stage: string;
  readonly keyPattern?: object;
  readonly inputStage?: Stage;
  readonly inputStages?: readonly Stage[];
}

const scansOf = ({ inputStage, inputStages = [], ...stage }: Stage): readonly Stage[] => {
  const inputs = inputStage ? [inputStage, ...inputStages] : inputStages;
  return inputs.length === 0 ? [stage] : inputs.flatMap(scansOf);
};

/** Where the embedded database has no choice: it takes any index that the fields of a filter lead. */
const isForAny = ({ eventId, from, to, ...rest }: DeliveryFilter): boolean => {
  const isInRange = from !== undefined || to !== undefined;
  if (eventId !== undefined) return !isInRange && Object.keys(rest).length === 0;
  if (rest.eventType !== undefined || rest.status === 'delivered') return false;
  return isInRange || Object.keys(rest).length > 0;
};

it('a page is read through its index', async () => {
  const plain = FILTERS.filter(isForAny);
  expect(plain.length).toBeGreaterThan(25);
  for (const filter of plain) {
    const query = log.models.deliveries.find(conditions(filter)).sort({ place: -1 }).limit(40);
    const { queryPlanner } = (await query.explain('queryPlanner')) as unknown as {
      readonly queryPlanner: { readonly winningPlan: Stage };
    };
    const scans = scansOf(queryPlanner.winningPlan);
    const expected = scans.map(() => ['IXSCAN', indexOf(filter)]);
    expect([filter, scans.map(({ stage, keyPattern }) => [stage, fieldsOf(keyPattern ?? {})])]).toEqual([
      filter,
      expected,
    ]);
  }
});
