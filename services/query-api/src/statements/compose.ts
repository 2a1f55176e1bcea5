import { TOPICS } from '@webhooks/contracts';
import { AppError, invalidRequest } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { Configurations } from '../configurations.js';
import type { Database } from '../database.js';
import { findFirst } from '../payments/event-store.js';
import type { EventRow } from '../payments/event-store.js';
import type { CatchUpResult } from '../projection/catch-up.js';
import type { Projection } from '../projection/projection.js';
import { ACCEPTED, countFacts, findSums, positionOf } from './daily-totals.js';
import type { Counted } from './daily-totals.js';
import { viewStatement } from './view-statement.js';

export interface StatementOptions {
  readonly database: Pick<Database, 'within' | 'writing'>;
  readonly configurations: Pick<Configurations, 'ofTenant'>;
  /** How long totals are stored, milliseconds. */
  readonly retentionMs: number;
  /** Waits until all events that are on the topic now are stored. */
  readonly catchUp: () => Promise<CatchUpResult>;
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/** Reads a day of the calendar, such as `2026-11-27`. Throws 422 for other text. */
function readDate(text = ''): string {
  const time = DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // The parser takes February 31 for March 3.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text)) return text;
  throw invalidRequest([{ property: 'date', reason: 'must be a day such as 2026-11-27' }]);
}

const toFact = ({
  tenantId,
  eventType,
  cents,
  appendedAt,
  partition = 0,
  offset = 0,
}: EventRow): Counted => ({
  ...positionOf({ topic: TOPICS.events, partition, offset }),
  ...{ tenantId, of: eventType, cents, adds: { [ACCEPTED]: 1 } },
  acceptedAt: Number(appendedAt),
});

/** From the start of one batch to that of the next: one write for each type of events. */
const INTERVAL_MS = 1_000;

/** Composes the totals of accepted events, and the statements from them. The delivery log counts the deliveries. */
export function composeStatements({ database, configurations, retentionMs, catchUp }: StatementOptions) {
  const operations: readonly Operation[] = [
    {
      method: 'GET',
      path: '/integration/v1/statements/:date',
      scopes: ['delivery.read'],
      handle: async ({ identity: { tenantId }, params }) => {
        const date = readDate(params['date']);
        const sums =
          (await findSums(database.within(REQUEST_MS), tenantId, date, date)).get(date) ?? new Map();
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
        if ((await catchUp()) !== 'passed')
          throw new AppError('unavailable', 'the events are not stored yet');
        const rows = await findFirst(database.writing(), records);
        await countFacts(database.writing(), rows.map(toFact), retentionMs);
      },
    } satisfies Projection,
    operations,
  };
}
