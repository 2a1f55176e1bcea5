import type { UtcTime } from '../types/event-types.js';
import type { Charge, DeliveryDetail, Transaction } from '../types/query-types.js';
import { explainDelivery, explainPending, fieldAt, verdict } from './explain-delivery.js';
import type { Case, ExplainedEvent, ExplainedWebhook, Verdict } from './explain-delivery.js';
import { verdictTexts } from './verdict-texts.js';

/** What is known of a payment. */
export interface PaymentEvidence {
  readonly payment?: Transaction | Charge | undefined;
  readonly events: readonly ExplainedEvent[];
  /** The webhooks of the events' types, and those that have a delivery. */
  readonly webhooks: readonly ExplainedWebhook[];
  readonly deliveries: readonly DeliveryDetail[];
  /** Whether there are more deliveries than these; default false. */
  readonly truncated?: boolean;
  /** Unix milliseconds. */
  readonly now: number;
  /** Zone of the times in texts; default `America/Sao_Paulo`. */
  readonly timeZone?: string;
}

/** Whether an id is that of a test: nothing was paid. */
export const isTestEvent = (eventId: string): boolean => eventId.startsWith('evt_test_');

/** A delivery waits no longer: eight days. */
const MAX_WAIT_MS = 8 * 86_400_000;

/** Explains why the log has no delivery to a webhook, by what the webhook was when the event came. */
function explainUnsent(one: Case & { readonly webhook: ExplainedWebhook }, at: UtcTime): readonly Verdict[] {
  const { event, webhook } = one;
  const type = fieldAt(webhook, 'eventType', at, webhook.eventType);
  if (webhook.eventType !== event.eventType && type !== event.eventType) return [];
  if (webhook.createdAt > at) return [verdict('registered-later', one, { createdAt: webhook.createdAt })];
  if (type !== event.eventType) return [verdict('other-type-then', one, { type: String(type) })];
  if (fieldAt(webhook, 'enabled', at, webhook.enabled) !== true) return [verdict('disabled-then', one)];
  return [one.now - Date.parse(at) > MAX_WAIT_MS ? verdict('log-expired', one) : explainPending(one)];
}

function explainEvent(event: ExplainedEvent, evidence: PaymentEvidence): readonly Verdict[] {
  const { webhooks, truncated, now, timeZone } = evidence;
  const base = { event, now, timeZone };
  const own = evidence.deliveries.filter(({ eventId }) => eventId === event.id);
  const made = own.flatMap((delivery) => {
    const webhook = webhooks.find(({ ref }) => ref === delivery.ref);
    return explainDelivery({ ...base, webhook, delivery });
  });
  const { id, receivedAt } = event;
  if (isTestEvent(id)) return [verdict('test', base), ...made];
  if (receivedAt === undefined) return made.length > 0 ? made : [verdict('log-expired', base)];
  // A delivery that is not listed must not count as missing.
  const others = truncated ? [] : webhooks.filter(({ ref }) => own.every((delivery) => delivery.ref !== ref));
  const unsent = others.flatMap((webhook) => explainUnsent({ ...base, webhook }, receivedAt));
  const all = [...made, ...unsent];
  return all.length > 0 ? all : [verdict('no-webhook', base)];
}

/**
 * Explains what became of each event of a payment at each webhook: why a notification is late, repeated, refused or
 * missing. Of a missing one it names the cause that held when the event came. Pure: it requests nothing.
 */
export function explainPayment(evidence: PaymentEvidence): readonly Verdict[] {
  const { payment, events } = evidence;
  const isOnlyReversed =
    payment && !evidence.truncated && events.every(({ eventType }) => eventType === 'PIX_REVERSAL');
  const isUnknown = events.length === 0 || isOnlyReversed;
  const kind = 'not-reported';
  const explained = events.flatMap((event) => explainEvent(event, evidence));
  return isUnknown ? [{ kind, text: verdictTexts(kind, {}) }, ...explained] : explained;
}
