import { ProblemError } from '../calls/call-errors.js';
import type { Client } from '../calls/create-client.js';
import type { Charge, DeliveryDetail, DeliveryFilter, Transaction } from '../types/query-types.js';
import type { ExplainedEvent, ExplainedWebhook } from './explain-delivery.js';
import type { PaymentEvidence } from './explain-payment.js';

/** Resolves with undefined for a 404. */
const unlessMissing = <T>(request: Promise<T>): Promise<T | undefined> =>
  request.catch((error: unknown) => {
    if (error instanceof ProblemError && error.status === 404) return undefined;
    throw error;
  });

type Payment = Transaction | Charge;
/** The filter for the deliveries of an id, and its payment. */
type Found = readonly [DeliveryFilter, (Payment | undefined)?];

const STATIC_MS = 30 * 86_400_000; // the service lists 31 days at most
const STATIC_PAYMENTS = 2_000; // ten pages, a few seconds

/** Returns the newest payment of a static charge. It may have no delivery; of one that is no longer stored the endToEndId is unknown. */
async function newestOf(client: Client, txId: string): Promise<{ readonly endToEndId?: string } | undefined> {
  const [listed] = (await client.deliveries({ txId })).data;
  if (listed || (await unlessMissing(client.notification(txId)))) return listed;
  const from = new Date(Date.now() - STATIC_MS).toISOString();
  let seen = 0;
  for await (const payment of client.eachTransaction({ from, eventType: 'PIX_STATIC', limit: 200 })) {
    if (payment.txId === txId) return payment;
    if ((seen += 1) >= STATIC_PAYMENTS) break;
  }
  return undefined;
}

/**
 * Returns the filter for the deliveries of an id, and its payment. The form of the id tells which kinds it can be of. Requests find out which
 * of these exists.
 */
async function identify(client: Client, id: string): Promise<Found> {
  const find = async <T>(form: RegExp, request: (id: string) => Promise<T>): Promise<T | undefined> =>
    form.test(id) ? unlessMissing(request(id)) : undefined;
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
    endToEndId === undefined ? undefined : await unlessMissing(client.transaction(endToEndId)),
  ];
}

function eventsOf({ eventId }: DeliveryFilter, payment: Payment | undefined): readonly string[] {
  if (payment === undefined) return eventId === undefined ? [] : [eventId];
  return 'pix' in payment ? payment.pix.flatMap(({ events }) => events) : payment.events;
}

/** Requests what a webhook is and was. */
async function examine(client: Client, ref: string): Promise<ExplainedWebhook> {
  const requests = [
    client.get(ref),
    unlessMissing(client.changes(ref)),
    unlessMissing(client.health(ref)),
  ] as const;
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

/** What is known of the payment of an id, for `explainPayment`. */
export interface FoundEvidence extends Omit<PaymentEvidence, 'now'> {
  /** There are more deliveries than are found. */
  readonly truncated: boolean;
}

/**
 * Finds a payment by its endToEndId or txId, by the id of one of its events, or by that of a delivery, and requests what `explainPayment`
 * needs: about five requests, and three for each webhook of its type. Resolves with undefined when there is nothing of this id.
 */
export async function findPayment(client: Client, id: string): Promise<FoundEvidence | undefined> {
  const [filter, payment] = await identify(client, id);
  const { data, nextCursor } = await client.deliveries(filter);
  const deliveries = await Promise.all(data.map(({ deliveryId }) => client.delivery(deliveryId)));
  const ids = new Set([...eventsOf(filter, payment), ...data.map(({ eventId }) => eventId)]);
  // Without a notification only the id is known.
  const request = async (one: string) => (await unlessMissing(client.notification(one))) ?? { id: one };
  const events: readonly ExplainedEvent[] = await Promise.all([...ids].map(request));
  if (!payment && deliveries.length === 0 && !events.some((event) => 'body' in event)) return undefined;
  const truncated = nextCursor !== undefined;
  // Of an event without a listed delivery nothing is known.
  const listed = events.filter((event) => deliveries.some(({ eventId }) => eventId === event.id));
  const webhooks = await examineWebhooks(client, truncated ? [] : events, deliveries);
  return { payment, events: truncated ? listed : events, webhooks, deliveries, truncated };
}
