import type {
  Charge,
  ChargePix,
  Client,
  DeliveryDetail,
  DeliveryFilter,
  ListedWebhook,
  Transaction,
} from '@webhooks/client';
import type { Argv } from 'yargs';
import { positional } from '../arguments.js';
import { Failure } from '../failure.js';
import { card, dim, table, collect } from '../output.js';
import { online, orNothing, type Session } from '../session.js';
import { deliveryText } from './deliveries.js';

type Payment = Transaction | Charge;

async function identifyPayment(
  client: Client,
  id: string,
): Promise<readonly [DeliveryFilter, Payment] | undefined> {
  const transaction = /^[A-Za-z0-9]{32}$/.test(id) ? await orNothing(client.transaction(id)) : undefined;
  if (transaction) return [{ endToEndId: id }, transaction];
  const charge = /^[A-Za-z0-9]{26,35}$/.test(id) ? await orNothing(client.charge(id)) : undefined;
  return charge && [{ txId: id }, charge];
}

/**
 * Returns the filter for the deliveries of an id, and its payment. The form of the id tells which kinds it can be of. Requests find out which
 * of these exists.
 */
async function identify(client: Client, id: string): Promise<readonly [DeliveryFilter, Payment?]> {
  const delivery = /^[a-z2-7]{52}$/.test(id) ? await orNothing(client.delivery(id)) : undefined;
  if (delivery) return [{ eventId: delivery.eventId }];
  const payment = await identifyPayment(client, id);
  if (payment) return payment;
  const isTxId = /^[A-Za-z0-9]{1,25}$/.test(id) && (await client.deliveries({ txId: id })).data.length > 0;
  return [isTxId ? { txId: id } : { eventId: id }];
}

/** Returns the events that a payment should have caused. For a transaction without a type, only its reversals are known. */
function factsOf(payment: Payment) {
  const paid = (one: ChargePix) => ({ ...one, since: one.paidAt, eventType: 'PIX_DYNAMIC_PAID' as const });
  const pix = 'pix' in payment ? payment.pix.map(paid) : [{ ...payment, since: payment.occurredAt }];
  return pix.flatMap(({ amount, eventType, since, reversals }) => [
    ...(amount && eventType ? [{ eventType, since }] : []),
    ...reversals.map(({ requestedAt = since, settledAt = requestedAt }) => ({
      eventType: 'PIX_REVERSAL' as const,
      since: settledAt,
    })),
  ]);
}

interface Unsent {
  readonly ref?: string;
  readonly reason: string;
  readonly fix: string;
}

/** A job selects missed events by their arrival, which may be up to a day before `occurredAt`. */
const AHEAD_MS = 86_400_000;

/** Returns why a webhook has no delivery of a fact, and what helps. */
async function whyUnsent(client: Client, { ref, enabled }: ListedWebhook, since?: string): Promise<Unsent> {
  const from = since ? new Date(Date.parse(since) - AHEAD_MS).toISOString() : 'TIME';
  const repair = `webhooks redeliveries create --status missed --ref ${ref} --from ${from}`;
  if (!enabled)
    return { ref, reason: `webhook ${ref} is disabled`, fix: `webhooks enable ${ref}; then ${repair}` };
  const { state } = await client.health(ref);
  if (['deferred', 'paused', 'failing'].includes(state))
    return {
      ref,
      reason: `webhook ${ref} is ${state}`,
      fix: `look again when it is healthy: webhooks show ${ref}`,
    };
  const { updatedAt } = await client.get(ref);
  if (since && Date.parse(updatedAt) > Date.parse(since))
    return { ref, reason: `webhook ${ref} was changed or registered later, at ${updatedAt}`, fix: repair };
  const fix = `look again soon; if nothing changes, the webhook was disabled at that time: ${repair}`;
  return { ref, reason: `webhook ${ref}: no attempt has ended yet`, fix };
}

/** Returns an entry for each webhook that has fewer deliveries than there are facts of its type. */
async function findUnsent(
  client: Client,
  payment: Payment,
  { webhooks, deliveries }: { webhooks: readonly ListedWebhook[]; deliveries: readonly DeliveryDetail[] },
) {
  const unsent: Unsent[] = [];
  for (const [eventType, facts] of Map.groupBy(factsOf(payment), (fact) => fact.eventType)) {
    const receivers = webhooks.filter((webhook) => webhook.eventType === eventType);
    const fix = `webhooks create --event-type ${eventType} --endpoint-url URL`;
    if (receivers.length === 0) unsent.push({ reason: `no webhook receives ${eventType}`, fix });
    for (const webhook of receivers)
      if (deliveries.filter(({ ref }) => ref === webhook.ref).length < facts.length)
        unsent.push(await whyUnsent(client, webhook, facts[0]?.since));
  }
  return unsent;
}

/** Returns one line: how many deliveries were made to the enabled webhooks, and the status of the others. */
function verdictOf(
  deliveries: readonly DeliveryDetail[],
  unsent: readonly Unsent[],
  webhooks: readonly ListedWebhook[],
): string {
  const open = deliveries.filter(({ status }) => status !== 'delivered');
  const others = open.map(({ ref, status, nextAt = '–' }) => `; ${ref}: ${status}, next attempt ${nextAt}`);
  const lacking = webhooks.filter(
    (webhook) => webhook.enabled && unsent.some(({ ref }) => ref === webhook.ref),
  );
  const total = deliveries.length + lacking.length;
  return `${deliveries.length - open.length} of ${total} deliveries made${others.join('')}`;
}

function paymentText(payment: Payment): string {
  const parts = 'pix' in payment ? [payment, ...payment.pix] : [payment];
  const reversals = parts.flatMap((part) => ('reversals' in part ? part.reversals : []));
  const columns = ['reversalId', 'status', 'amount', 'requestedAt', 'settledAt'];
  const reversed = reversals.length === 0 ? '' : `\n\n${dim('REVERSALS')}\n${table(reversals, columns)}`;
  return `${dim('PAYMENT')}\n${parts.map(card).join('\n\n')}${reversed}`;
}

function notFound(id: string): Failure {
  const length = id.startsWith('E') ? `an endToEndId has 32 characters, this has ${id.length}; ` : '';
  const hint = `${length}capitals count; another tenant has other ids: --profile NAME; an event without deliveries is found by its endToEndId, or the txId of a dynamic charge`;
  return new Failure('not-found', `no payment, event or delivery has the id ${id}`, hint);
}

async function find({ client, show }: Session, { id: typed }: { readonly id: string }): Promise<void> {
  const id = typed.trim();
  const [filter, payment] = await identify(client, id);
  const { data, nextCursor } = await client.deliveries(filter);
  const webhooks = await collect(client.eachWebhook());
  const deliveries = await Promise.all(data.map(({ deliveryId }) => client.delivery(deliveryId)));
  if (payment === undefined && deliveries.length === 0) throw notFound(id);
  // A test notification goes to one webhook.
  const isReal = payment !== undefined && !payment.test;
  const unsent = isReal ? await findUnsent(client, payment, { webhooks, deliveries }) : [];
  const reasons = unsent.map(({ reason, fix }) => `${reason}\n${dim('→')} ${fix}`);
  const texts = [
    verdictOf(deliveries, unsent, webhooks),
    ...(payment ? [paymentText(payment)] : []),
    ...deliveries.map((delivery) => `${dim('DELIVERY')}\n${deliveryText(delivery)}`),
    ...(reasons.length === 0 ? [] : [`${dim('NOT SENT')}\n${reasons.join('\n')}`]),
  ];
  if (nextCursor !== undefined) texts.push('there are more: webhooks deliveries list');
  show({ payment, deliveries, truncated: nextCursor !== undefined, nothingSent: unsent }, texts.join('\n\n'));
}

const withId = positional('id', 'endToEndId, txId, event id or delivery id');

export const addFind = (cli: Argv): Argv =>
  cli.command('find <id>', 'Show a payment, its deliveries, or why nothing was sent', withId, online(find));
