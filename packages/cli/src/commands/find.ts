import { explainPayment } from '@webhooks/client';
import type { Charge, Client, DeliveryDetail, DeliveryFilter, Transaction } from '@webhooks/client';
import type { ExplainedEvent, ExplainedWebhook, Verdict } from '@webhooks/client';
import type { Argv } from 'yargs';
import { positional } from '../arguments.js';
import { Failure } from '../failure.js';
import { card, collect, dim, language, plain, table } from '../output.js';
import { online, orNothing, type Session } from '../session.js';
import { zone } from '../times.js';
import { deliveryText } from './deliveries.js';

type Payment = Transaction | Charge;
/** The filter for the deliveries of an id, and its payment. */
type Found = readonly [DeliveryFilter, (Payment | undefined)?];

const STATIC_MS = 30 * 86_400_000; // the service lists 31 days at most
const STATIC_PAYMENTS = 2_000; // ten pages, a few seconds

/** Returns the newest payment of a static charge. It may have no delivery; of one that is no longer stored the endToEndId is unknown. */
async function newestOf(client: Client, txId: string): Promise<{ readonly endToEndId?: string } | undefined> {
  const [listed] = (await client.deliveries({ txId })).data;
  if (listed || (await orNothing(client.notification(txId)))) return listed;
  const from = new Date(Date.now() - STATIC_MS).toISOString();
  const payments = client.eachTransaction({ from, eventType: 'PIX_STATIC', limit: 200 });
  return (await collect(payments, STATIC_PAYMENTS)).find((one) => one.txId === txId);
}

/**
 * Returns the filter for the deliveries of an id, and its payment. The form of the id tells which kinds it can be of. Requests find out which
 * of these exists.
 */
async function identify(client: Client, id: string): Promise<Found> {
  const find = async <T>(form: RegExp, request: (id: string) => Promise<T>): Promise<T | undefined> =>
    form.test(id) ? orNothing(request(id)) : undefined;
  const delivery = await find(/^[a-z2-7]{52}$/, (one) => client.delivery(one));
  if (delivery) return [{ eventId: delivery.eventId }];
  const transaction = await find(/^[A-Za-z0-9]{32}$/, (one) => client.transaction(one));
  if (transaction) return [{ endToEndId: id }, transaction];
  const charge = await find(/^[A-Za-z0-9]{26,35}$/, (one) => client.charge(one));
  if (charge) return [{ txId: id }, charge];
  const newest = await find(/^[A-Za-z0-9]{1,25}$/, (one) => newestOf(client, one));
  if (newest === undefined) return [{ eventId: id }];
  const { endToEndId } = newest;
  return [
    { txId: id },
    endToEndId === undefined ? undefined : await orNothing(client.transaction(endToEndId)),
  ];
}

function eventsOf({ eventId }: DeliveryFilter, payment: Payment | undefined): readonly string[] {
  if (payment === undefined) return eventId === undefined ? [] : [eventId];
  return 'pix' in payment ? payment.pix.flatMap(({ events }) => events) : payment.events;
}

/** Requests what a webhook is and was. */
async function examine(client: Client, ref: string): Promise<ExplainedWebhook> {
  const requests = [client.get(ref), orNothing(client.changes(ref)), orNothing(client.health(ref))] as const;
  const [webhook, changes, health] = await Promise.all(requests);
  return { ...webhook, changes: changes?.data ?? [], health };
}

/** Examines the webhooks that have a delivery or are of the type of an event, one after the other. */
async function examineWebhooks(
  client: Client,
  events: readonly ExplainedEvent[],
  deliveries: readonly DeliveryDetail[],
): Promise<readonly ExplainedWebhook[]> {
  const examined: ExplainedWebhook[] = [];
  for await (const { ref, eventType } of client.eachWebhook())
    if (deliveries.some((made) => made.ref === ref) || events.some((event) => event.eventType === eventType))
      examined.push(await examine(client, ref));
  return examined;
}

function paymentText(payment: Payment): string {
  const parts = 'pix' in payment ? [payment, ...payment.pix] : [payment];
  const reversals = parts.flatMap((part) => ('reversals' in part ? part.reversals : []));
  const columns = ['reversalId', 'status', 'amount', 'requestedAt', 'settledAt'];
  const reversed = reversals.length === 0 ? '' : `\n\n${dim('REVERSALS')}\n${table(reversals, columns)}`;
  return `${dim('PAYMENT')}\n${parts.map(card).join('\n\n')}${reversed}`;
}

/** Says why an id that begins as an endToEndId is none; empty for any other. */
function malformed(id: string): string {
  const wrong = /[^A-Za-z0-9]/u.exec(id);
  if (!id.startsWith('E') || (wrong === null && id.length === 32)) return '';
  const code = wrong?.[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? '';
  const found = wrong ? `character ${wrong.index + 1} of this is U+${code}` : `this has ${id.length}`;
  return `an endToEndId has 32 letters and digits, ${found}; `;
}

function notFound(id: string): Failure {
  const hint = `${malformed(id)}capitals count; another tenant has other ids: --profile NAME; a payment is found by time and amount, too: webhooks payments list`;
  return new Failure('not-found', `no payment, event or delivery has the id ${id}`, hint);
}

/** Kinds whose event would fail again before the endpoint is repaired. */
const BROKEN: readonly string[] = ['refused', 'unreachable', 'dead'];

/** Formats a verdict, and the command that helps. */
function verdictText({ kind, text, command }: Verdict): string {
  const sentence = plain(text[language()]);
  if (command === undefined) return sentence;
  return `${sentence}\n${dim(BROKEN.includes(kind) ? '→ once it is repaired:' : '→')} ${plain(command)}`;
}

async function find({ client, show }: Session, { id: typed }: { readonly id: string }): Promise<void> {
  const id = typed.trim();
  const [filter, payment] = await identify(client, id);
  const { data, nextCursor } = await client.deliveries(filter);
  const deliveries = await Promise.all(data.map(({ deliveryId }) => client.delivery(deliveryId)));
  const ids = new Set([...eventsOf(filter, payment), ...data.map(({ eventId }) => eventId)]);
  // Without a notification only the id is known.
  const request = async (one: string) => (await orNothing(client.notification(one))) ?? { id: one };
  const events: readonly ExplainedEvent[] = await Promise.all([...ids].map(request));
  const isKnown = payment ?? deliveries[0] ?? events.find((event) => 'body' in event);
  if (isKnown === undefined) throw notFound(id);
  const truncated = nextCursor !== undefined;
  // A delivery that is not listed must not count as missing.
  const listed = events.filter((event) => deliveries.some(({ eventId }) => eventId === event.id));
  const webhooks = await examineWebhooks(client, truncated ? [] : events, deliveries);
  const evidence = { payment, events: truncated ? listed : events, webhooks, deliveries };
  const verdicts = explainPayment({ ...evidence, now: Date.now(), timeZone: zone() });
  const texts = [
    verdicts.map(verdictText).join('\n'),
    ...(payment ? [paymentText(payment)] : []),
    ...deliveries.map((delivery) => `${dim('DELIVERY')}\n${deliveryText(delivery)}`),
  ];
  if (truncated) texts.push('there are more: webhooks deliveries list');
  show({ verdicts, payment, deliveries, truncated }, texts.join('\n\n'));
}

const withId = positional('id', 'endToEndId, txId, event id or delivery id');

export const addFind = (cli: Argv): Argv =>
  cli.command('find <id>', 'Say what became of a payment, and show its deliveries', withId, online(find));
