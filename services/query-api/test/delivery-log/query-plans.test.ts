import { randomName } from '@webhooks/testkit';
import { conditionsOf } from '../../src/delivery-log/delivery-filter.js';
import type { DeliveryFilter } from '../../src/delivery-log/delivery-filter.js';
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

/** The index of a filter: by the event, else all that is asked for and then the order. Of an endpoint the type is looked at in its documents. */
function indexOf(filter: DeliveryFilter): string {
  if (filter.eventId !== undefined) return 'tenantId eventId';
  return filter.ref === undefined
    ? 'tenantId state.status eventType place'
    : 'tenantId ref state.status place';
}

const documented = () => log.models.deliveries.schema.indexes();

it('every filter names all fields of one index, each as one value or one of a few, and those that it does not name are none', () => {
  for (const filter of FILTERS) {
    const { place: _place, ...named } = conditions(filter);
    const index = indexOf(filter).split(' ');
    const beforeOrder = index.filter((field) => field !== 'place');
    expect(Object.keys(named)).toEqual(expect.arrayContaining(beforeOrder));
    if (filter.eventId !== undefined) continue;
    const others = Object.keys(named).filter((field) => !index.includes(field));
    expect([filter, others]).toEqual([
      filter,
      filter.ref !== undefined && filter.eventType !== undefined ? ['eventType'] : [],
    ]);
  }
});

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

/** The embedded database reads an index for the fields of a filter that lead it, of which only the last may be a choice or a range. */
function isForAny(filter: DeliveryFilter): boolean {
  const asked = conditions(filter);
  const fields = indexOf(filter)
    .split(' ')
    .filter((field) => field in asked);
  const exact = fields.slice(0, -1).every((field) => typeof asked[field] === 'string');
  return exact && fields.length === Object.keys(asked).length;
}

it('a page is read through its index', async () => {
  const plain = FILTERS.filter(isForAny);
  expect(plain.length).toBeGreaterThan(15);
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
