import { ProblemError } from '@webhooks/client';
import type { Charge, Client, DeliveryFilter, EventType, Transaction } from '@webhooks/client';
import type { Argv } from 'yargs';
import { positional } from '../arguments.js';
import { Failure } from '../failure.js';
import { card, dim } from '../output.js';
import { collect } from '../present.js';
import { online, type Session } from '../session.js';
import { deliveryText } from './deliveries.js';

type Payment = Transaction | Charge;

/** Undefined for what is not there. */
const orNothing = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if (error instanceof ProblemError && error.problem.status === 404) return undefined;
    throw error;
  });

/** What an id is, by its form, and for a form that two kinds have by asking. */
async function identify(client: Client, id: string): Promise<readonly [DeliveryFilter, Payment?]> {
  if (/^[a-z2-7]{52}$/.test(id)) return [{ eventId: (await client.delivery(id)).eventId }];
  const transaction = /^[A-Za-z0-9]{32}$/.test(id) ? await orNothing(client.transaction(id)) : undefined;
  if (transaction) return [{ endToEndId: id }, transaction];
  const charge = /^[A-Za-z0-9]{26,35}$/.test(id) ? await orNothing(client.charge(id)) : undefined;
  if (charge) return [{ txId: id }, charge];
  return /^[A-Za-z0-9]{1,25}$/.test(id) ? [{ txId: id }] : [{ eventId: id }];
}

/** What happened and when; a transaction without a type is one of which only a reversal is known. */
function factOf(payment: Payment): { readonly eventType: EventType; readonly since: string } {
  if ('pix' in payment) return { eventType: 'PIX_DYNAMIC_PAID', since: payment.pix[0]?.paidAt ?? 'TIME' };
  return { eventType: payment.eventType ?? 'PIX_REVERSAL', since: payment.occurredAt ?? 'TIME' };
}

/** Why a payment has no delivery, and what helps. */
async function whyNothing(client: Client, payment: Payment): Promise<{ reason: string; fix: string }> {
  const { eventType, since } = factOf(payment);
  const [first, ...others] = await collect(client.eachWebhook({ eventType }));
  if (first === undefined) {
    const fix = `webhooks create --event-type ${eventType} --endpoint-url URL`;
    return { reason: `no webhook receives ${eventType}`, fix };
  }
  const { ref, createdAt } = await client.get(first.ref);
  const repair = `webhooks redeliveries create --status missed --ref ${ref} --from ${since}`;
  const enable = `webhooks enable ${ref}; then ${repair}`;
  if (![first, ...others].some(({ enabled }) => enabled))
    return { reason: `every webhook for ${eventType} is disabled`, fix: enable };
  if (others.length === 0 && createdAt > since)
    return { reason: `the webhook was registered later, at ${createdAt}`, fix: repair };
  const fix = `look again soon; webhooks show ${ref}`;
  return { reason: 'no attempt has ended yet, or its endpoint is paused', fix };
}

function paymentText(payment: Payment): string {
  const pix = 'pix' in payment ? payment.pix.map((one) => `\n\n${card(one)}`) : [];
  return `${dim('PAYMENT')}\n${card(payment)}${pix.join('')}`;
}

async function find({ client, show }: Session, { id }: { readonly id: string }): Promise<void> {
  const [filter, payment] = await identify(client, id);
  const { data, nextCursor } = await client.deliveries(filter);
  const deliveries = await Promise.all(data.map(({ deliveryId }) => client.delivery(deliveryId)));
  const texts = deliveries.map((delivery) => `${dim('DELIVERY')}\n${deliveryText(delivery)}`);
  if (payment === undefined && texts.length === 0)
    throw new Failure('not-found', `nothing has the id ${id}`, 'try the endToEndId of the Pix');
  const nothingSent = payment && texts.length === 0 ? await whyNothing(client, payment) : undefined;
  if (nothingSent)
    texts.push(`${dim('NOTHING WAS SENT')}\n${nothingSent.reason}\n${dim('→')} ${nothingSent.fix}`);
  if (payment) texts.unshift(paymentText(payment));
  if (nextCursor !== undefined) texts.push('there are more: webhooks deliveries list');
  show({ payment, deliveries, truncated: nextCursor !== undefined, nothingSent }, texts.join('\n\n'));
}

const withId = positional('id', 'endToEndId, txId, event id or delivery id');

export const addFind = (cli: Argv): Argv =>
  cli.command('find <id>', 'Show a payment, its deliveries, or why nothing was sent', withId, online(find));
