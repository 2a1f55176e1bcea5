import { ProblemError } from '@webhooks/client';
import type { Charge, Client, DeliveryFilter, Transaction } from '@webhooks/client';
import type { Argv } from 'yargs';
import { Failure } from '../failure.js';
import { card, dim } from '../output.js';
import { online, type Session } from '../session.js';
import { deliveryText } from './deliveries.js';
import { listAll } from './webhooks.js';

type Payment = Transaction | Charge;

/** Undefined for what is not there. */
const known = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if (error instanceof ProblemError && error.problem.status === 404) return undefined;
    throw error;
  });

/** What an id is, by its form, and for a form that two kinds have by asking. */
async function identify(client: Client, id: string): Promise<readonly [DeliveryFilter, Payment?]> {
  if (/^[a-z2-7]{52}$/.test(id)) return [{ eventId: (await client.delivery(id)).eventId }];
  const transaction = /^[A-Za-z0-9]{32}$/.test(id) ? await known(client.transaction(id)) : undefined;
  if (transaction) return [{ endToEndId: id }, transaction];
  const charge = /^[A-Za-z0-9]{26,35}$/.test(id) ? await known(client.charge(id)) : undefined;
  if (charge) return [{ txId: id }, charge];
  return /^[A-Za-z0-9]{1,25}$/.test(id) ? [{ txId: id }] : [{ eventId: id }];
}

type Reason = readonly [reason: string, fix: string];
const repair = (ref: string, from: string): string =>
  `webhooks redeliveries create --status missed --ref ${ref} --from ${from}`;

/** Why a payment has no delivery. */
async function whyNothing(client: Client, payment: Payment): Promise<Reason> {
  const { eventType = 'PIX_DYNAMIC_PAID', occurredAt = '2000-01-01' } = 'pix' in payment ? {} : payment;
  const [webhook, ...others] = await listAll(client, { eventType });
  if (webhook === undefined)
    return [
      `no webhook receives ${eventType}`,
      `webhooks create --event-type ${eventType} --endpoint-url https://…`,
    ];
  const { ref } = webhook;
  if (![webhook, ...others].some(({ enabled }) => enabled))
    return [
      `every webhook for ${eventType} is disabled`,
      `webhooks enable ${ref}; then ${repair(ref, occurredAt)}`,
    ];
  const { createdAt } = await client.get(ref);
  if (others.length === 0 && createdAt > occurredAt)
    return [`the webhook was registered later, at ${createdAt}`, repair(ref, occurredAt)];
  return [
    'no attempt has ended yet, or its endpoint is paused',
    `look again in some seconds; webhooks show ${ref}`,
  ];
}

function paymentText(payment: Payment): string {
  const pix = 'pix' in payment ? payment.pix.map((one) => `\n\n${card(one)}`) : [];
  return `${dim('PAYMENT')}\n${card(payment)}${pix.join('')}`;
}

async function find({ client, show }: Session, { id }: { readonly id: string }): Promise<void> {
  const [filter, payment] = await identify(client, id);
  const { data } = await client.deliveries(filter);
  const deliveries = await Promise.all(data.map(({ deliveryId }) => client.delivery(deliveryId)));
  const texts = deliveries.map((delivery) => `${dim('DELIVERY')}\n${deliveryText(delivery)}`);
  if (payment === undefined && texts.length === 0)
    throw new Failure(
      'not-found',
      `no payment or delivery of this tenant has the id ${id}`,
      'try the endToEndId',
    );
  if (payment === undefined) {
    show({ deliveries }, texts.join('\n\n'));
    return;
  }
  if (texts.length > 0) {
    show({ payment, deliveries }, [paymentText(payment), ...texts].join('\n\n'));
    return;
  }
  const [reason, fix] = await whyNothing(client, payment);
  const text = `${paymentText(payment)}\n\n${dim('NOTHING WAS SENT')}\n${reason}\n${dim('→')} ${fix}`;
  show({ payment, deliveries, nothingSent: { reason, fix } }, text);
}

export const addFind = (cli: Argv): Argv =>
  cli.command(
    'find <id>',
    'Show a payment and every delivery of it, or why nothing was sent',
    (own) =>
      own.positional('id', {
        ...{ type: 'string', demandOption: true },
        describe: 'endToEndId, txId, event id or delivery id',
      } as const),
    online(find),
  );
