import type { UtcTime } from '../types/event-types.js';
import type { DeliveryAttempt, DeliveryDetail, StoredNotification } from '../types/query-types.js';
import type { Change, EndpointHealth, Webhook } from '../types/webhook-types.js';
import { verdictTexts } from './verdict-texts.js';
import type { Texts, Values, VerdictKind } from './verdict-texts.js';

/** A webhook, with what is known of its past and of its health. */
export interface ExplainedWebhook extends Pick<
  Webhook,
  'ref' | 'eventType' | 'endpointUrl' | 'enabled' | 'createdAt'
> {
  readonly hasSecret?: boolean;
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
  readonly timeZone?: string | undefined;
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

const enableCommand = ({ webhook }: Case): string | undefined =>
  webhook?.enabled === false ? `webhooks enable ${webhook.ref}` : undefined;

/** Kinds for which nothing is to be sent. */
const HELPED = new Set<VerdictKind>([
  'delivered',
  'delivered-late',
  'repeated',
  'paused',
  'deferred',
  'log-expired',
]);

function commandOf(kind: VerdictKind, one: Case): string | undefined {
  const { event } = one;
  if (kind === 'no-webhook')
    return `webhooks create --event-type ${event.eventType ?? ''} --endpoint-url URL`;
  // Of an event without a delivery nothing may wait: then enabling alone sends nothing.
  if (kind === 'ending' && one.delivery) return enableCommand(one);
  return HELPED.has(kind) || (kind === 'waiting' && !isLate(one)) ? undefined : sendCommand(one);
}

const amountOf = ({ event, delivery }: Case): string | undefined =>
  delivery?.amount ?? /"amount":"([\d.]+)"/.exec(event.body ?? '')?.[1];

/** Returns the name of the event: its type, with its amount when that is known. */
function nameOf(one: Case): Values {
  const eventType = one.event.eventType ?? one.delivery?.eventType ?? `id ${one.event.id}`;
  const amount = amountOf(one);
  return { eventType, amount, event: amount === undefined ? eventType : 'event' };
}

/** Returns a field of a webhook as it was at that time: today's, without the changes since then. */
export function fieldAt({ changes }: ExplainedWebhook, name: string, at: UtcTime, today: unknown): unknown {
  const since = changes.filter((change) => change.at > at).flatMap(({ fields }) => fields);
  const changed = since.findLast(({ field }) => field === name);
  return changed ? changed.from : today;
}

/** Returns host and path of the endpoint at that time, by default now. Its query may hold a password. `~` sorts after every time. */
function endpointOf({ webhook, delivery }: Case, at = '~'): string {
  const known = webhook && fieldAt(webhook, 'endpointUrl', at, webhook.endpointUrl);
  const url = typeof known === 'string' ? known : (delivery?.endpointUrl ?? delivery?.ref ?? '');
  return url.replaceAll(/^https:\/\/|[?#].*$/g, '');
}

const isAccepted = ({ result }: DeliveryAttempt): boolean => result === 'delivered';
const isFailed = ({ result }: DeliveryAttempt): boolean => result === 'failed';

/** Returns the last failure since the delivery was last sent again. */
const failureOf = ({ attempts, cycle }: DeliveryDetail) =>
  attempts.findLast((one) => isFailed(one) && one.cycle === cycle);

/** Returns the last failure of the delivery, else that of any delivery to this webhook; empty without one. */
function lastFailure({ delivery, webhook }: Case): Partial<DeliveryAttempt> {
  const own = delivery && failureOf(delivery);
  if (own !== undefined) return own;
  const { class: name = '', ...rest } = webhook?.health?.failures[0] ?? {};
  return /^\d{3}$/.test(name) ? { ...rest, status: Number(name) } : { ...rest, error: name };
}

const waitOf = ({ delivery, webhook }: Case) => ({
  planned: delivery?.nextAt ?? '',
  until: webhook?.health?.until ?? '',
});

/** Returns when the next attempt is made: a pause that ends later puts it off. */
function nextOf(one: Case): string {
  const { planned, until } = waitOf(one);
  const next = until > planned ? until : planned;
  return Date.parse(next) > one.now ? next : 'due';
}

/** The cause that the response alone does not show: without a secret, whatever verifies signatures refuses. */
const causeFor = ({ webhook }: Case, { status = 0 }: Partial<DeliveryAttempt>): Values =>
  webhook?.hasSecret === false && [400, 401, 403].includes(status) ? { cause: 'unsigned' } : {};

/** Makes a verdict. `values`: those of its sentence that not every sentence has. `failed`: the attempt that tells the cause. */
export function verdict(
  kind: VerdictKind,
  one: Case,
  values: Values & { readonly at?: UtcTime } = {},
  failed = lastFailure(one),
): Verdict {
  const { event, webhook, delivery } = one;
  const { id, receivedAt } = event;
  const endpoint = endpointOf(one, values.at ?? failed.at);
  const known = { ...nameOf(one), ...causeFor(one, failed), endpoint, receivedAt, next: nextOf(one) };
  return {
    kind,
    eventId: id,
    ref: (webhook ?? delivery)?.ref,
    deliveryId: delivery?.deliveryId,
    text: verdictTexts(kind, { ...known, ...values }, failed, one.timeZone),
    command: commandOf(kind, one),
  };
}

function explainAccepted(one: Delivered): Verdict {
  const { attempts, updatedAt } = one.delivery;
  const [first, ...others] = attempts.filter(isAccepted);
  const at = first?.at ?? updatedAt;
  const values = { at, attempt: first && attempts.indexOf(first) + 1 };
  const last = others.at(-1);
  if (last) {
    const reason = others.every(({ cycle }) => cycle === first?.cycle) ? 'attempt' : 'redelivery';
    return verdict('repeated', one, { ...values, count: others.length + 1, last: last.at, reason });
  }
  const kind = isLate(one, Date.parse(at)) ? 'delivered-late' : 'delivered';
  // A failure that came after the success did not delay it.
  return verdict(kind, one, values, attempts.slice(0, values.attempt).find(isFailed) ?? {});
}

/** Whether it waits by a fault of the platform. The log does not have every delivery that does. */
const isDeferred = ({ delivery, webhook }: Case): boolean =>
  webhook?.health?.state === 'deferred' && (delivery === undefined || delivery.deferredUntil !== undefined);

/** Whether it waits for the end of a pause. One that waits for a slow endpoint is deferred, too. */
function isPaused(one: Case): boolean {
  const { planned, until } = waitOf(one);
  const { state = 'paused' } = one.webhook?.health ?? {};
  return state === 'paused' && (one.delivery?.deferredUntil !== undefined || until > planned);
}

/** Whether it is cancelled when it is due. */
const isEnding = ({ event, webhook, delivery }: Case): boolean =>
  webhook !== undefined &&
  (!webhook.enabled || webhook.eventType !== (event.eventType ?? delivery?.eventType));

function pendingKind(one: Case): VerdictKind {
  const { delivery } = one;
  if (isEnding(one)) return 'ending';
  if (isDeferred(one)) return 'deferred';
  if (isPaused(one)) return 'paused';
  const failed = delivery && failureOf(delivery);
  if (failed === undefined) return 'waiting';
  return failed.status === undefined ? 'unreachable' : 'refused';
}

/** Explains a delivery that waits, or that the log does not have yet. */
export const explainPending = (one: Case): Verdict =>
  verdict(pendingKind(one), one, {
    reason: one.webhook?.enabled === false ? 'disabled' : 'event-type-changed',
  });

/** Explains a delivery of the log. One that was sent again after a success has two verdicts. */
export function explainDelivery(one: Delivered): readonly Verdict[] {
  const { status, attempts, reason, updatedAt } = one.delivery;
  const accepted = status === 'delivered' || attempts.some(isAccepted) ? [explainAccepted(one)] : [];
  if (status === 'delivered') return accepted;
  if (status === 'pending') return [...accepted, explainPending(one)];
  return [...accepted, verdict(status, one, { at: updatedAt, reason }, failureOf(one.delivery) ?? {})];
}
