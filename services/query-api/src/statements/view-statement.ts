import { EVENT_TYPES, isEventType } from '@webhooks/contracts';
import type { EventType, Money } from '@webhooks/contracts';
import type { DeliveryStatus } from '../delivery-log/delivery-state.js';
import { formatCents } from '../payments/view-transaction.js';
import type { ConfigurationRow } from '../configurations.js';
import { omitUndefined } from '../omit-undefined.js';
import { ACCEPTED, beginOf, endOf, NOTHING, plus } from './daily-totals.js';
import type { Sum, TotalsRow } from './daily-totals.js';

type Sums = ReadonlyMap<string, TotalsRow['sums']>;

/** An amount may be negative in a difference. */
const amountOf = (cents: number): Money => `${cents < 0 ? '-' : ''}${formatCents(Math.abs(cents))}`;
const view = ({ events, cents }: Sum) => ({ events, amount: amountOf(cents) });

const OUTCOMES = ['delivered', 'dead', 'cancelled', 'pending'] as const satisfies readonly DeliveryStatus[];

const acceptedOf = (sums: Sums, eventType: string): Sum => sums.get(eventType)?.[ACCEPTED] ?? NOTHING;
const madeOf = (sums: TotalsRow['sums'] = {}): Sum =>
  OUTCOMES.reduce((sum, outcome) => plus(sum, sums[outcome] ?? NOTHING), NOTHING);

/**
 * Returns the events without a delivery. They were missed when the webhook was registered or changed after the day had
 * begun, or is disabled. Otherwise, and with more deliveries than events, they are a difference.
 */
function viewRest({ enabled, updatedAt }: ConfigurationRow, rest: Sum, begin: number) {
  const mayMiss = (!enabled || Date.parse(updatedAt) > begin) && rest.events >= 0;
  const [missed, difference] = mayMiss ? [rest, NOTHING] : [NOTHING, rest];
  const balanced = difference.events === 0 && difference.cents === 0;
  return { missed: view(missed), balanced, difference: view(difference) };
}

/** One webhook's day. */
function viewWebhook(configuration: ConfigurationRow, sums: Sums, begin: number) {
  const { ref, eventType, applicationId, endpointUrl, enabled } = configuration;
  const {
    delivered = NOTHING,
    dead = NOTHING,
    cancelled = NOTHING,
    pending: waiting = NOTHING,
  } = sums.get(ref) ?? {};
  const events = acceptedOf(sums, eventType);
  return {
    ...{ ref, eventType, endpointUrl, enabled, ...omitUndefined({ applicationId }) },
    events: view(events),
    delivered: view(delivered),
    dead: view(dead),
    cancelled: view(cancelled),
    waiting: view(waiting),
    ...viewRest(configuration, plus(events, madeOf(sums.get(ref)), -1), begin),
  };
}

/** Returns the events of a type that matched no webhook. With several webhooks of that type: at most so many. */
function viewUnmatched(eventType: EventType, sums: Sums, webhooks: readonly ConfigurationRow[]) {
  const made = webhooks.filter((one) => one.eventType === eventType).map(({ ref }) => madeOf(sums.get(ref)));
  const most = made.reduce((one, other) => (other.events > one.events ? other : one), NOTHING);
  const left = plus(acceptedOf(sums, eventType), most, -1);
  return left.events > 0 ? [{ eventType, ...view(left) }] : [];
}

/**
 * Shows a tenant's day: for each webhook the events of its type, and what became of them. `open`: the day has not
 * ended, or a delivery waits.
 */
export function viewStatement(
  date: string,
  sums: Sums,
  webhooks: readonly ConfigurationRow[],
  now = Date.now(),
) {
  const receivers = webhooks.filter(({ eventType }) => isEventType(eventType));
  const shown = receivers.map((one) => viewWebhook(one, sums, beginOf(date)));
  return {
    date,
    from: new Date(beginOf(date)).toISOString(),
    to: new Date(endOf(date)).toISOString(),
    open: now < endOf(date) || shown.some(({ waiting }) => waiting.events > 0),
    balanced: shown.every(({ balanced }) => balanced),
    webhooks: shown,
    unmatched: EVENT_TYPES.flatMap((eventType) => viewUnmatched(eventType, sums, webhooks)),
  };
}
