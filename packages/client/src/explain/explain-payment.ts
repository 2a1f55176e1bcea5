import type { UtcTime } from '../types/event-types.js';
import type { Charge, DeliveryDetail, Transaction } from '../types/query-types.js';
import { explainDelivery, explainPending, verdict } from './explain-delivery.js';
import type { Case, ExplainedEvent, ExplainedWebhook, Verdict } from './explain-delivery.js';
import { verdictTexts } from './verdict-texts.js';

/** What is known of a payment. */
export interface PaymentEvidence {
  readonly payment?: Transaction | Charge | undefined;
  readonly events: readonly ExplainedEvent[];
  /** The webhooks of the events' types, and those that have a delivery. */
  readonly webhooks: readonly ExplainedWebhook[];
  readonly deliveries: readonly DeliveryDetail[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** How the ids of test notifications begin. */
const TEST_EVENT = 'evt_test_';

/** Returns type and state of a webhook at that time: today's, without the changes since then. */
function webhookAt({ eventType, enabled, changes }: ExplainedWebhook, at: UtcTime) {
  const since = changes.filter((change) => change.at > at).flatMap(({ fields }) => fields);
  const valueOf = (name: string, today: unknown): unknown => {
    const changed = since.findLast(({ field }) => field === name);
    return changed ? changed.from : today;
  };
  return { eventType: valueOf('eventType', eventType), enabled: valueOf('enabled', enabled) };
}

/** Explains why the log has no delivery to a webhook, by what the webhook was when the event came. */
function explainUnsent(one: Case & { readonly webhook: ExplainedWebhook }, at: UtcTime): readonly Verdict[] {
  const { event, webhook } = one;
  const then = webhookAt(webhook, at);
  if (webhook.eventType !== event.eventType && then.eventType !== event.eventType) return [];
  if (webhook.createdAt > at) return [verdict('registered-later', one, { createdAt: webhook.createdAt })];
  if (then.eventType !== event.eventType)
    return [verdict('other-type-then', one, { type: String(then.eventType) })];
  return [then.enabled === true ? explainPending(one) : verdict('disabled-then', one)];
}

function explainEvent(event: ExplainedEvent, evidence: PaymentEvidence): readonly Verdict[] {
  const { webhooks, now } = evidence;
  const own = evidence.deliveries.filter(({ eventId }) => eventId === event.id);
  const made = own.flatMap((delivery) => {
    const webhook = webhooks.find(({ ref }) => ref === delivery.ref);
    return explainDelivery({ event, webhook, delivery, now });
  });
  const { id, receivedAt } = event;
  if (id.startsWith(TEST_EVENT)) return [verdict('test', { event, now }), ...made];
  if (receivedAt === undefined) return made.length > 0 ? made : [verdict('log-expired', { event, now })];
  const others = webhooks.filter(({ ref }) => own.every((delivery) => delivery.ref !== ref));
  const unsent = others.flatMap((webhook) => explainUnsent({ event, webhook, now }, receivedAt));
  const all = [...made, ...unsent];
  return all.length > 0 ? all : [verdict('no-webhook', { event, now })];
}

/**
 * Explains what became of each event of a payment at each webhook: why a notification is late, repeated, refused or
 * missing. Of a missing one it names the cause that held when the event came. Pure: it requests nothing.
 */
export function explainPayment(evidence: PaymentEvidence): readonly Verdict[] {
  const { payment, events } = evidence;
  const isOnlyReversed = payment && events.every(({ eventType }) => eventType === 'PIX_REVERSAL');
  const isUnknown = events.length === 0 || isOnlyReversed;
  const kind = 'not-reported';
  const explained = events.flatMap((event) => explainEvent(event, evidence));
  return isUnknown ? [{ kind, text: verdictTexts(kind, {}) }, ...explained] : explained;
}
