import type { DeliveryAttempt, DeliveryDetail, StoredNotification } from '../types/query-types.js';
import type { Change, EndpointHealth, Webhook } from '../types/webhook-types.js';
import { causeTexts, eventTexts, timeTexts, verdictTexts, wordTexts } from './verdict-texts.js';
import type { Texts, VerdictKind } from './verdict-texts.js';

/** A webhook, with what is known of its past and of its health. */
export interface ExplainedWebhook extends Pick<
  Webhook,
  'ref' | 'eventType' | 'endpointUrl' | 'enabled' | 'createdAt'
> {
  /** The newest first. */
  readonly changes: readonly Change[];
  readonly health?: EndpointHealth | undefined;
}

/** An event of a payment. It has only its id when its notification is no longer stored. */
export type ExplainedEvent = Partial<StoredNotification> & Pick<StoredNotification, 'id'>;

/** What became of one event at one webhook, or of the whole payment. */
export interface Verdict {
  readonly kind: VerdictKind;
  readonly ref?: string | undefined;
  readonly eventId?: string;
  readonly deliveryId?: string | undefined;
  readonly text: Texts;
  /** Command line that helps, of the program `webhooks`. */
  readonly command?: string | undefined;
}

/** An event and one webhook. */
export interface Case {
  readonly event: ExplainedEvent;
  readonly webhook?: ExplainedWebhook | undefined;
  readonly delivery?: DeliveryDetail | undefined;
  readonly now: number;
}
type Delivered = Case & { readonly delivery: DeliveryDetail };

/** A minute: a customer at the till waits no longer. */
const LATE_MS = 60_000;

const isLate = ({ event: { receivedAt }, now }: Case, at = now): boolean =>
  receivedAt !== undefined && at - Date.parse(receivedAt) > LATE_MS;

/** Returns the command that sends the event to the webhook; undefined when the service would refuse. */
function sendCommand({ event, webhook }: Case): string | undefined {
  if (!webhook || event.body === undefined || webhook.eventType !== event.eventType) return undefined;
  const send = `webhooks send ${event.id} --ref ${webhook.ref}`;
  return webhook.enabled ? send : `webhooks enable ${webhook.ref} && ${send}`;
}

const COMMANDS: { readonly [kind in VerdictKind]?: (one: Case) => string | undefined } = {
  refused: sendCommand,
  unreachable: sendCommand,
  waiting: (one) => (isLate(one) ? sendCommand(one) : undefined),
  ending: ({ webhook }) => webhook && `webhooks enable ${webhook.ref}`,
  dead: sendCommand,
  cancelled: sendCommand,
  'disabled-then': sendCommand,
  'registered-later': sendCommand,
  'other-type-then': sendCommand,
  'no-webhook': ({ event }) => `webhooks create --event-type ${event.eventType ?? ''} --endpoint-url URL`,
};

function nameOf({ event, delivery }: Case): Texts {
  const amount = delivery?.amount ?? /"amount":"([\d.]+)"/.exec(event.body ?? '')?.[1];
  return eventTexts(event.eventType ?? delivery?.eventType ?? event.id, amount);
}

/** Returns host and path of the endpoint; its query may hold a password. */
function endpointOf({ webhook, delivery }: Case): string {
  const url = delivery?.endpointUrl ?? webhook?.endpointUrl ?? delivery?.ref ?? '';
  return url.replaceAll(/^https:\/\/|[?#].*$/g, '');
}

/** Makes a verdict; `values` are those of its sentence that not every sentence has. */
export function verdict(
  kind: VerdictKind,
  one: Case,
  values: Readonly<Record<string, string | number | Texts>> = {},
): Verdict {
  const { event, webhook, delivery } = one;
  const known = { event: nameOf(one), endpoint: endpointOf(one), receivedAt: timeTexts(event.receivedAt) };
  return {
    kind,
    eventId: event.id,
    ref: webhook?.ref ?? delivery?.ref,
    deliveryId: delivery?.deliveryId,
    text: verdictTexts(kind, { ...known, ...values }),
    command: COMMANDS[kind]?.(one),
  };
}

const isAccepted = ({ result }: DeliveryAttempt): boolean => result === 'delivered';
const isFailed = ({ result }: DeliveryAttempt): boolean => result === 'failed';

function explainAccepted(one: Delivered): Verdict {
  const { attempts, updatedAt } = one.delivery;
  const accepted = attempts.filter(isAccepted);
  const first = accepted[0];
  const { at = updatedAt, cycle } = first ?? {};
  const values = { at: timeTexts(at), attempt: first ? attempts.indexOf(first) + 1 : '' };
  if (accepted.length > 1) {
    const reason = accepted.every((other) => other.cycle === cycle) ? 'crash' : 'redelivery';
    const last = timeTexts(accepted.at(-1)?.at);
    return verdict('repeated', one, { ...values, count: accepted.length, last, reason: wordTexts(reason) });
  }
  if (!isLate(one, Date.parse(at))) return verdict('delivered', one, values);
  return verdict('delivered-late', one, { ...values, cause: causeTexts(attempts.find(isFailed)) });
}

/** Returns the last failure of the delivery, else that of any delivery to this webhook; empty without one. */
function lastFailure({ delivery, webhook }: Case): Partial<DeliveryAttempt> {
  const own = delivery?.attempts.findLast(isFailed);
  if (own !== undefined) return own;
  const { class: name = '', ...rest } = webhook?.health?.failures[0] ?? {};
  return /^\d{3}$/.test(name) ? { ...rest, status: Number(name) } : { ...rest, error: name };
}

/** Whether it waits by a fault of the platform. The log does not have every delivery that does. */
const isDeferred = ({ delivery, webhook }: Case): boolean =>
  webhook?.health?.state === 'deferred' && (delivery === undefined || delivery.deferredUntil !== undefined);

/** Whether it waits for the end of a pause. The log tells that of the first delivery only, the health of all. */
const isPaused = ({ delivery, webhook }: Case): boolean =>
  delivery?.deferredUntil !== undefined || (webhook?.health?.until ?? '') > (delivery?.nextAt ?? '');

function pendingKind(one: Case): VerdictKind {
  const { webhook, delivery } = one;
  if (webhook?.enabled === false) return 'ending';
  if (isDeferred(one)) return 'deferred';
  if (isPaused(one)) return 'paused';
  const failed = delivery?.attempts.findLast(isFailed);
  if (failed === undefined) return 'waiting';
  return failed.status === undefined ? 'unreachable' : 'refused';
}

/** Returns when the next attempt is made: a pause that ends later puts it off. */
function nextTexts({ delivery, webhook, now }: Case): Texts {
  const [planned = '', until = ''] = [delivery?.nextAt, webhook?.health?.until];
  const next = until > planned ? until : planned;
  return Date.parse(next) > now ? timeTexts(next) : wordTexts('due');
}

/** Explains a delivery that waits, or that the log does not have yet. */
export function explainPending(one: Case): Verdict {
  const failed = lastFailure(one);
  return verdict(pendingKind(one), one, {
    next: nextTexts(one),
    failedAt: timeTexts(failed.at),
    error: failed.status ?? failed.code ?? failed.error ?? '',
    cause: causeTexts(failed),
  });
}

/** Explains a delivery of the log. One that was sent again after a success has two verdicts. */
export function explainDelivery(one: Delivered): readonly Verdict[] {
  const { status, attempts, reason = '', updatedAt } = one.delivery;
  const accepted = status === 'delivered' || attempts.some(isAccepted) ? [explainAccepted(one)] : [];
  if (status === 'delivered') return accepted;
  if (status === 'pending') return [...accepted, explainPending(one)];
  const cause = causeTexts(attempts.findLast(isFailed));
  return [...accepted, verdict(status, one, { at: timeTexts(updatedAt), reason: wordTexts(reason), cause })];
}
