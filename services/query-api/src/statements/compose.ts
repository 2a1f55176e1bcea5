import { TOPICS } from '@webhooks/contracts';
import { invalidRequest } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { Configurations } from '../configurations.js';
import type { Database } from '../database.js';
import { rowsOf } from '../payments/event-store.js';
import type { Projection } from '../projection/projection.js';
import { toAccepted } from './count-events.js';
import { countFacts, findSums } from './daily-totals.js';
import type { TotalsRow } from './daily-totals.js';
import { viewStatement } from './view-statement.js';

export interface StatementOptions {
  readonly database: Pick<Database, 'within' | 'writing'>;
  readonly configurations: Pick<Configurations, 'ofTenant'>;
  /** How long totals are stored, milliseconds. */
  readonly retentionMs: number;
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/** Reads a day of the calendar, such as `2026-11-27`. Throws 422 for other text. */
function readDate(text = ''): string {
  const time = DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // The parser takes February 31 for March 3.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text)) return text;
  throw invalidRequest([{ property: 'date', reason: 'must be a day such as 2026-11-27' }]);
}

/** From the start of one batch to that of the next: one write for each type of events. */
const INTERVAL_MS = 1_000;

/** Composes the totals of accepted events, and the statements from them. The delivery log counts the deliveries. */
export function composeStatements({ database, configurations, retentionMs }: StatementOptions) {
  const operations: readonly Operation[] = [
    {
      method: 'GET',
      path: '/integration/v1/statements/:date',
      scopes: ['delivery.read'],
      handle: async ({ identity: { tenantId }, params }) => {
        const date = readDate(params['date']);
        const sums =
          (await findSums(database.within(REQUEST_MS), tenantId, date, date)).get(date) ??
          new Map<string, TotalsRow['sums']>();
        return { status: 200, body: viewStatement(date, sums, await configurations.ofTenant(tenantId)) };
      },
    },
  ];
  return {
    projection: {
      name: 'totals',
      topics: [TOPICS.events],
      intervalMs: INTERVAL_MS,
      apply: async (records) => {
        await countFacts(database.writing(), rowsOf(records).map(toAccepted), retentionMs);
      },
    } satisfies Projection,
    operations,
  };
}
