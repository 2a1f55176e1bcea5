import { EVENT_TYPES, isEventType } from '@webhooks/contracts';
import type { EventType } from '@webhooks/contracts';
import { invalidRequest } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { Configurations, ConfigurationRow } from '../configurations.js';
import type { Database } from '../database.js';
import { DELIVERY_STATUSES } from '../delivery-log/delivery-state.js';
import { omitUndefined } from '../omit-undefined.js';
import { formatCents } from '../payments/view-transaction.js';
import type { CatchUpResult } from '../projection/catch-up.js';
import { UNDER_WAY_MS } from '../redelivery/start-redelivery.js';
import { ACCEPTED, beginOf, dayOf, endOf, findSums, NOTHING, plus } from './daily-totals.js';
import type { DaySums, Sum, Sums } from './daily-totals.js';

const view = ({ events, cents }: Sum) => ({ events, amount: formatCents(cents) });

/** The sums of a day, by type of events or ref. */
type SumsOf = ReadonlyMap<string, Sums>;

const sumOf = (sums: SumsOf, of: string, name: string): Sum => sums.get(of)?.[name] ?? NOTHING;
const madeFor = (sums: SumsOf, ref: string): Sum =>
  DELIVERY_STATUSES.map((status) => sumOf(sums, ref, status)).reduce((one, other) => plus(one, other));

/**
 * What the events without a delivery are. They were missed when the webhook was registered or changed after the day had
 * begun, or is disabled. Otherwise they wait for their first attempt while events of that day may be under way, and are a
 * difference after that. So are more deliveries than events, and amounts alone; until then some events are not read.
 */
function nameOfRest({ events, cents }: Sum, mayMiss: boolean, underWay: boolean) {
  if (events <= 0 || cents < 0) return underWay ? 'unread' : 'difference';
  if (mayMiss) return 'missed';
  return underWay ? 'waiting' : 'difference';
}

function viewWebhook(configuration: ConfigurationRow, sums: SumsOf, begin: number, underWay: boolean) {
  const { ref, eventType, applicationId, endpointUrl, enabled, updatedAt } = configuration;
  const events = sumOf(sums, eventType, ACCEPTED);
  const all = plus(events, madeFor(sums, ref), -1);
  const name = nameOfRest(all, !enabled || Date.parse(updatedAt) > begin, underWay);
  const rest = { missed: NOTHING, waiting: NOTHING, difference: NOTHING, [name]: all };
  return {
    ...{ ref, eventType, endpointUrl, enabled, ...omitUndefined({ applicationId }) },
    events: view(events),
    delivered: view(sumOf(sums, ref, 'delivered')),
    dead: view(sumOf(sums, ref, 'dead')),
    cancelled: view(sumOf(sums, ref, 'cancelled')),
    waiting: view(plus(sumOf(sums, ref, 'pending'), rest.waiting)),
    missed: view(rest.missed),
    balanced: rest.difference.events === 0 && rest.difference.cents === 0,
    difference: view(rest.difference),
  };
}

/** Returns the events of a type that matched no webhook. With several webhooks of that type: at most so many. */
function viewUnmatched(eventType: EventType, sums: SumsOf, webhooks: readonly ConfigurationRow[]) {
  const made = webhooks.filter((one) => one.eventType === eventType).map(({ ref }) => madeFor(sums, ref));
  const most = made.reduce((one, other) => (other.events > one.events ? other : one), NOTHING);
  const left = plus(sumOf(sums, eventType, ACCEPTED), most, -1);
  return left.events > 0 && left.cents >= 0 ? [{ eventType, ...view(left) }] : [];
}

/**
 * Shows a tenant's day: for each webhook the events of its type, and what became of them. `open`: the day has not
 * ended, its last events may still be under way, not everything is read, or a delivery waits.
 */
export function viewStatement(
  date: string,
  totals: readonly DaySums[],
  all: readonly ConfigurationRow[],
  { isRead, now }: { readonly isRead: boolean; readonly now: number },
) {
  const underWay = !isRead || now < endOf(date) + UNDER_WAY_MS;
  const sums = new Map(totals.map(({ of, sums: own }) => [of, own]));
  const webhooks = all.filter(({ eventType }) => isEventType(eventType));
  const shown = webhooks.map((one) => viewWebhook(one, sums, beginOf(date), underWay));
  return {
    date,
    from: new Date(beginOf(date)).toISOString(),
    to: new Date(endOf(date)).toISOString(),
    open: underWay || shown.some(({ waiting }) => waiting.events > 0),
    balanced: shown.every(({ balanced }) => balanced),
    webhooks: shown,
    unmatched: EVENT_TYPES.flatMap((eventType) => viewUnmatched(eventType, sums, webhooks)),
  };
}

/** Reads a day of the calendar that has begun and is stored, such as `2026-11-27`. Throws 422 for other text. */
function readDate(retentionMs: number, text = ''): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // The parser takes February 31 for March 3.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(text) || text > dayOf(Date.now()))
    throw invalidRequest([{ property: 'date', reason: 'must be a day that has begun, such as 2026-11-27' }]);
  if (endOf(text) + retentionMs > Date.now()) return text;
  throw invalidRequest([{ property: 'date', reason: 'must be a day that is still kept' }]);
}

export interface StatementOptions {
  readonly database: Pick<Database, 'within'>;
  readonly configurations: Pick<Configurations, 'ofTenant'>;
  /** How long a day is stored after its end, in milliseconds. */
  readonly retentionMs: number;
  /** Waits until everything that is on the topics now is projected. */
  readonly catchUp: () => Promise<CatchUpResult>;
}

/**
 * `GET /statements/{date}`. The projections of events, attempts and dead letters count the totals. What is not read yet
 * may change any day, so each is open then.
 */
export const statementOperations = (options: StatementOptions): readonly Operation[] => [
  {
    method: 'GET',
    path: '/integration/v1/statements/:date',
    scopes: ['delivery.read'],
    handle: async ({ identity: { tenantId }, params }) => {
      const date = readDate(options.retentionMs, params['date']);
      const isRead = (await options.catchUp()) === 'passed';
      const totals = await findSums(options.database.within(REQUEST_MS), tenantId, date, date);
      const webhooks = await options.configurations.ofTenant(tenantId);
      return { status: 200, body: viewStatement(date, totals, webhooks, { isRead, now: Date.now() }) };
    },
  },
];
