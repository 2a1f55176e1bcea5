import type { Money, PaymentEvent, UtcTime } from '@webhooks/contracts';
import { orderBy, chainOrders } from '../order.js';
import { compareEvents, timeKey } from './merge-events.js';
import type { Payment, Reversal, Transaction } from './merge-events.js';
import { omitUndefined } from '../omit-undefined.js';

/** Integer cents of an amount such as `110.00`, at most 10^12. So the sum of 1,000 amounts is exact (below 2^53). */
export const parseCents = (amount: Money): number => Number(amount.replace('.', ''));

/** Formats cents as decimal text with two places. A sum may have more than ten digits before the point, a difference may be negative. */
export function formatCents(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function toView({ data }: Reversal) {
  const { reversalId, rtrId, amount, status, reason, requestedAt, settledAt } = data;
  const rest = omitUndefined({ reason, requestedAt, settledAt });
  return { reversalId, rtrId, amount: formatCents(parseCents(amount)), status, ...rest };
}

const byTimeAndId = chainOrders<Reversal>(
  orderBy(({ occurredAt }) => timeKey(occurredAt)),
  orderBy(({ data }) => data.rtrId),
);

/** Shows one reversal for each rtrId, as its last event reports it. Sorted by time, then by rtrId. */
const viewReversals = (reversals: readonly Reversal[]) =>
  [...new Map(reversals.map((one) => [one.data.rtrId, one])).values()].sort(byTimeAndId).map(toView);

type Identified = Partial<Record<'txId' | 'status' | 'reversalId' | 'rtrId', string>>;

function viewPayment({ eventType, occurredAt, data }: PaymentEvent) {
  const { txId, status, reversalId, rtrId }: Identified = data;
  const amount = formatCents(parseCents(data.amount));
  return omitUndefined({ eventType, txId, amount, occurredAt, status, reversalId, rtrId });
}

/** Shows one event in a list. A reversal has identifiers of its own, too. */
export const viewEvent = (event: PaymentEvent) => ({
  eventId: event.id,
  endToEndId: event.data.endToEndId,
  ...viewPayment(event),
});

/**
 * Shows a Pix: the winning payment, and every reversal. The fields of the payment are absent while no payment is
 * known.
 */
export function viewTransaction(transaction: Transaction) {
  const { endToEndId, payments, reversals, test, truncated } = transaction;
  const payment = payments.at(-1);
  return {
    endToEndId,
    ...(payment ? viewPayment(payment) : {}),
    reversals: viewReversals(reversals),
    events: [...payments, ...reversals].map(({ id }) => id),
    ...omitUndefined({ test: test || undefined, truncated: truncated || undefined }),
  };
}

type Paid = Extract<Payment, { readonly eventType: 'PIX_DYNAMIC_PAID' }>;

/** The part of a charge that one Pix contributes. */
interface Share {
  readonly endToEndId: string;
  readonly payment: Paid | undefined;
  readonly reversals: readonly Reversal[];
  readonly events: readonly string[];
}

/**
 * Returns the payments and reversals that name the charge. The Pix paid the charge when the winner of its payments names
 * it. Reversals that name no charge then belong to it, too.
 */
function shareOf({ endToEndId, payments, reversals }: Transaction, txId: string): Share {
  const isPaid = (one: Payment | undefined): one is Paid =>
    one?.eventType === 'PIX_DYNAMIC_PAID' && one.data.txId === txId;
  const paid = payments.filter(isPaid);
  // An outgoing payment does not contradict an incoming one: a tenant may pay its own charge.
  const winner = payments.findLast(({ eventType }) => eventType !== 'PIX_OUT');
  const payment = isPaid(winner) ? winner : undefined;
  const isOfCharge = ({ data }: Reversal): boolean =>
    data.txId === txId || (data.txId === undefined && payment !== undefined);
  const ofCharge = reversals.filter(isOfCharge);
  return { endToEndId, payment, reversals: ofCharge, events: [...paid, ...ofCharge].map(({ id }) => id) };
}

const paidAtOf = ({ data, occurredAt }: Paid): UtcTime => data.paidAt ?? occurredAt;

/** Sorts after every time. */
const NOT_PAID = '~';
const inOrder = chainOrders<Share>(
  orderBy(({ payment }) => (payment ? timeKey(paidAtOf(payment)) : NOT_PAID)),
  orderBy(({ endToEndId }) => endToEndId),
);

function viewShare({ endToEndId, payment, reversals, events }: Share, txId: string) {
  const paid = payment && {
    amount: formatCents(parseCents(payment.data.amount)),
    paidAt: paidAtOf(payment),
  };
  return { endToEndId, txId, ...paid, reversals: viewReversals(reversals), events };
}

/**
 * Returns the charged amount of the newest payment that reports one. Without one: the sum of the payments, or undefined
 * without a payment.
 */
function amountOf(payments: readonly Paid[]): string | undefined {
  if (payments.length === 0) return undefined;
  const charged = payments.toSorted(compareEvents).findLast(({ data }) => data.chargeAmount !== undefined)
    ?.data.chargeAmount;
  const amounts = charged === undefined ? payments.map(({ data }) => data.amount) : [charged];
  return formatCents(amounts.reduce((sum, amount) => sum + parseCents(amount), 0));
}

/**
 * Shows a charge: `CONCLUIDA` once a payment is known, with the oldest payment first. Test events are left out once a
 * real event is known. Undefined when no event names the charge.
 */
export function viewCharge(txId: string, found: readonly Transaction[]) {
  const isTest = found.every(({ test }) => test);
  const shares = found
    .filter(({ test }) => test === isTest)
    .map((transaction) => shareOf(transaction, txId))
    .filter(({ events }) => events.length > 0)
    .sort(inOrder);
  if (shares.length === 0) return undefined;
  const payments = shares.map(({ payment }) => payment).filter((payment) => payment !== undefined);
  const truncated = found.some((transaction) => transaction.truncated) || undefined;
  return {
    txId,
    status: payments.length > 0 ? 'CONCLUIDA' : 'ATIVA',
    ...omitUndefined({ amount: truncated ? undefined : amountOf(payments) }),
    pix: shares.map((share) => viewShare(share, txId)),
    ...omitUndefined({ test: isTest || undefined, truncated }),
  };
}
