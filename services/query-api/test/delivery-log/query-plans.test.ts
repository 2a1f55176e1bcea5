import { EVENT_TYPES } from '@webhooks/contracts';
import { randomName } from '@webhooks/testkit';
import type { Model, Query } from 'mongoose';
import type { Database, Models } from '../../src/database.js';
import { MAX_PASSED_OVER, pageNewestFirst, pageOldestFirst } from '../../src/delivery-log/delivery-pages.js';
import { DELIVERY_STATUSES } from '../../src/delivery-log/delivery.js';
import { REFS, entriesOf, everyFilter, fill } from './support/generated-log.js';
import { openLog } from './support/open-log.js';
import type { OpenLog } from './support/open-log.js';

const BASE = Date.now() - 3_600_000;
const TENANT = randomName('tenant');
let log: OpenLog;
beforeAll(async () => {
  log = await openLog(randomName('query_log'));
  for (const seed of [1, 2, 3, 4]) await fill(log, entriesOf(TENANT, BASE, seed));
});
afterAll(() => log.close());

interface Stage {
  readonly stage: string;
  readonly keyPattern?: Readonly<Record<string, number>>;
  readonly filter?: unknown;
  readonly inputStage?: Stage;
}
interface Explained {
  readonly queryPlanner: { readonly winningPlan: Stage };
  readonly executionStats: { readonly nReturned: number; readonly totalDocsExamined: number };
}
type AnyQuery = Query<unknown, unknown>;

const stagesOf = (stage: Stage): readonly Stage[] => [
  stage,
  ...(stage.inputStage ? stagesOf(stage.inputStage) : []),
];

/** A model that notes its queries. */
function noting<R>(model: Model<R>, queries: AnyQuery[]): Model<R> {
  return new Proxy(model, {
    get: (target, name, receiver) => {
      if (name !== 'find') return Reflect.get(target, name, receiver) as unknown;
      return (...args: Parameters<typeof target.find>) => {
        const query = target.find(...args);
        queries.push(query);
        return query;
      };
    },
  });
}

/** Asks the real database and notes each query of deliveries and of their milestones. */
function noteQueries() {
  const queries: AnyQuery[] = [];
  const milestones: AnyQuery[] = [];
  const models: Models = {
    ...log.models,
    deliveries: noting(log.models.deliveries, queries),
    milestones: noting(log.models.milestones, milestones),
  };
  const ask: ReturnType<Database['within']> = (statement) => statement(models);
  return { ask, queries, milestones };
}

/** Documents that a statement looked at; throws unless an index serves its whole filter. */
async function examine(query: AnyQuery): Promise<{ readonly index: string; readonly examined: number }> {
  const { limit } = query.getOptions();
  const again = query.model.find(query.getFilter()).sort(query.getOptions().sort as never);
  const told = (await (limit === undefined ? again : again.limit(limit)).explain(
    'executionStats',
  )) as unknown;
  const { queryPlanner, executionStats } = told as Explained;
  const stages = stagesOf(queryPlanner.winningPlan);
  const scan = stages.at(-1);
  expect(scan?.stage).toMatch(/^(IXSCAN|IDHACK|EXPRESS_IXSCAN)$/);
  // Nothing is looked for in the documents: those that are read are those that are returned.
  expect(stages.map(({ filter }) => filter)).toEqual(stages.map(() => undefined));
  expect(executionStats.totalDocsExamined).toBe(executionStats.nReturned);
  return {
    index: Object.keys(scan?.keyPattern ?? {}).join(' '),
    examined: Math.min(executionStats.nReturned, limit ?? Infinity),
  };
}

const FILTERS = everyFilter(new Date(BASE - 30_000), new Date(BASE - 2));

const expectedIndex = ({ ref, eventId }: (typeof FILTERS)[number]): string => {
  if (eventId !== undefined) return '_id';
  return ref === undefined ? 'tenantId eventType status place' : 'tenantId ref status place';
};

/** Ranges of one reading: each event type that may match in each status, and again what a redelivery may come to. */
const rangesOf = ({ ref, eventId, eventType, status }: (typeof FILTERS)[number]): number => {
  if (eventId !== undefined) return 1;
  const groups = ref === undefined && eventType === undefined ? EVENT_TYPES.length : 1;
  return groups * (status === undefined ? DELIVERY_STATUSES.length + 3 : 1);
};

/** Documents: of each range a page and one more, after windows with less than a page; of a type that no index tells, those passed over too. */
function boundOf(filter: (typeof FILTERS)[number], limit: number): number {
  if (filter.eventId !== undefined) return REFS.length;
  const isExact = filter.ref === undefined || filter.eventType === undefined;
  return rangesOf(filter) * (limit + 1 + (isExact ? 0 : MAX_PASSED_OVER)) + limit;
}

describe('a page of deliveries', () => {
  it('is read through an index for every combination of filters, and looks at few documents besides its own', async () => {
    const limit = 40;
    for (const filter of FILTERS) {
      const { ask, queries, milestones } = noteQueries();
      await pageNewestFirst(ask, TENANT, filter, { limit });
      const plans = await Promise.all(queries.map(examine));
      const examined = plans.reduce((sum, plan) => sum + plan.examined, 0);
      const indexes = [...new Set(plans.map(({ index }) => index))];
      const ranges = rangesOf(filter);
      const bound = boundOf(filter, limit);
      expect([filter, indexes]).toEqual([filter, [expectedIndex(filter)]]);
      expect(examined).toBeLessThanOrEqual(bound);
      expect(queries.length).toBeLessThanOrEqual(4 * ranges);
      for (const query of milestones) expect((await examine(query)).index).toBe('tenantId every place');
    }
  });

  it('is read through an index from its oldest end too', async () => {
    for (const filter of FILTERS) {
      const { ask, queries } = noteQueries();
      await pageOldestFirst(ask, TENANT, filter, { limit: 40 });
      const indexes = new Set((await Promise.all(queries.map(examine))).map(({ index }) => index));
      expect([filter, [...indexes]]).toEqual([filter, [expectedIndex(filter)]]);
    }
  });
});
