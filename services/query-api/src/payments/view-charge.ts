import type { UtcTime } from '@webhooks/contracts';
import { formatCents, parseCents } from './cents.js';
import { compareEvents, timeKey } from './event-order.js';
import type { Payment, Reversal } from './event-order.js';
import type { Transaction } from './merge-events.js';
import { byText, inTurn } from '../order.js';
import { present } from '../present.js';
import { viewReversals } from './view-reversals.js';

type Paid = Extract<Payment, { readonly eventType: 'PIX_DYNAMIC_PAID' }>;

/** What one Pix adds to a charge. */
interface Share {
  readonly endToEndId: string;
  readonly payment: Paid | undefined;
  readonly reversals: readonly Reversal[];
  readonly events: readonly string[];
}

/** Payments and reversals that name the charge; of a Pix that paid it also reversals that name none. */
function shareOf({ endToEndId, payments, reversals }: Transaction, txId: string): Share {
  const paid = payments.filter(
    (one): one is Paid => one.eventType === 'PIX_DYNAMIC_PAID' && one.data.txId === txId,
  );
  const payment = paid.at(-1);
  const isOurs = ({ data }: Reversal): boolean =>
    data.txId === txId || (data.txId === undefined && payment !== undefined);
  const ours = reversals.filter(isOurs);
  return { endToEndId, payment, reversals: ours, events: [...paid, ...ours].map(({ id }) => id) };
}

const paidAtOf = ({ data, occurredAt }: Paid): UtcTime => data.paidAt ?? occurredAt;

/** Sorts behind every time. */
const NOT_PAID = '~';
const inOrder = inTurn<Share>(
  byText(({ payment }) => (payment ? timeKey(paidAtOf(payment)) : NOT_PAID)),
  byText(({ endToEndId }) => endToEndId),
);

function viewShare({ endToEndId, payment, reversals, events }: Share, txId: string) {
  const paid = payment && {
    amount: formatCents(parseCents(payment.data.amount)),
    paidAt: paidAtOf(payment),
  };
  return { endToEndId, txId, ...paid, reversals: viewReversals(reversals), events };
}

/** What was charged, as the newest payment that tells it says; else what was paid; nothing without a payment. */
function amountOf(payments: readonly Paid[]): string | undefined {
  if (payments.length === 0) return undefined;
  const charged = payments.toSorted(compareEvents).findLast(({ data }) => data.chargeAmount !== undefined)
    ?.data.chargeAmount;
  const amounts = charged === undefined ? payments.map(({ data }) => data.amount) : [charged];
  return formatCents(amounts.reduce((sum, amount) => sum + parseCents(amount), 0));
}

/**
 * A charge as its query answers it, of the transactions that name it: `CONCLUIDA` once a payment is known. What tests told
 * is left out as soon as anything real is known. The oldest payment comes first. Undefined when nothing is known.
 */
export function viewCharge(txId: string, found: readonly Transaction[]) {
  const isTest = found.every(({ test }) => test);
  const shares = found
    .filter(({ test }) => test === isTest)
    .map((transaction) => shareOf(transaction, txId))
    .filter(({ payment, reversals }) => payment !== undefined || reversals.length > 0)
    .sort(inOrder);
  if (shares.length === 0) return undefined;
  const payments = shares.map(({ payment }) => payment).filter((payment) => payment !== undefined);
  const truncated = found.some((transaction) => transaction.truncated) || undefined;
  return {
    txId,
    status: payments.length > 0 ? 'CONCLUIDA' : 'ATIVA',
    ...present({ amount: truncated ? undefined : amountOf(payments) }),
    pix: shares.map((share) => viewShare(share, txId)),
    ...present({ test: isTest || undefined, truncated }),
  };
}
