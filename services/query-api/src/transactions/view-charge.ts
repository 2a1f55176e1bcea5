import type { UtcTime } from '@webhooks/contracts';
import { formatCents } from './cents.js';
import { compareFacts, timeKey } from './fact-order.js';
import type { KnownPayment, KnownReversal } from './fact.js';
import type { Transaction } from './merge-facts.js';
import { compareText } from '../order.js';
import { present } from './present.js';
import { viewReversals } from './view-reversals.js';
import type { ReversalView } from './view-reversals.js';

/** One Pix of a charge; `amount` and `paidAt` are absent while only its reversals are known. */
export interface ChargePixView {
  readonly endToEndId: string;
  readonly txId: string;
  /** Decimal text. */
  readonly amount?: string;
  /** When it was paid, else when it occurred. */
  readonly paidAt?: UtcTime;
  readonly reversals: readonly ReversalView[];
}

/** The answer for one charge. */
export interface ChargeView {
  readonly txId: string;
  readonly status: 'ATIVA' | 'CONCLUIDA';
  /** Decimal text; absent while no payment is known. */
  readonly amount?: string;
  /** The oldest payment first, then by endToEndId; those whose payment is not known come last. */
  readonly pix: readonly ChargePixView[];
  /** A test notification told of it: nothing was paid. */
  readonly test?: true;
  /** More is known than is kept or answered. */
  readonly truncated?: true;
}

/** What one Pix adds to a charge. */
interface Share {
  readonly endToEndId: string;
  readonly payment: KnownPayment | undefined;
  readonly reversals: readonly KnownReversal[];
}

/** Payments and reversals that name the charge; of a Pix that paid it also reversals that name none. */
function shareOf({ endToEndId, payments, reversals }: Transaction, txId: string): Share {
  const payment = payments.find((one) => one.eventType === 'PIX_DYNAMIC_PAID' && one.txId === txId);
  const isOurs = (named: string | undefined): boolean =>
    named === txId || (named === undefined && payment !== undefined);
  return { endToEndId, payment, reversals: reversals.filter((one) => isOurs(one.txId)) };
}

const paidAtOf = ({ paidAt, occurredAt }: KnownPayment): UtcTime => paidAt ?? occurredAt;

/** Sorts behind every time. */
const NOT_PAID = '~';
const sortKey = ({ payment }: Share): string => (payment ? timeKey(paidAtOf(payment)) : NOT_PAID);
const inOrder = (left: Share, right: Share): number =>
  compareText(sortKey(left), sortKey(right)) || compareText(left.endToEndId, right.endToEndId);

function viewShare({ endToEndId, payment, reversals }: Share, txId: string): ChargePixView {
  const paid = payment && { amount: formatCents(payment.amountCents), paidAt: paidAtOf(payment) };
  return { endToEndId, txId, ...paid, reversals: viewReversals(reversals) };
}

/** What was charged, as the newest payment that tells it says; else what was paid; nothing without a payment. */
function amountOf(payments: readonly KnownPayment[]): string | undefined {
  if (payments.length === 0) return undefined;
  const charged = payments
    .filter(({ chargeAmountCents }) => chargeAmountCents !== undefined)
    .sort(compareFacts)
    .at(-1)?.chargeAmountCents;
  return formatCents(charged ?? payments.reduce((sum, { amountCents }) => sum + amountCents, 0));
}

/**
 * A charge as its query answers it, of the transactions that name it (the first `limit` of them): `CONCLUIDA` once a
 * payment is known. What tests told is left out as soon as anything real is known. Undefined when nothing is known.
 */
export function viewCharge(
  txId: string,
  found: readonly Transaction[],
  limit = Number.POSITIVE_INFINITY,
): ChargeView | undefined {
  const read = found.slice(0, limit);
  const isTest = read.every(({ test }) => test === true);
  const transactions = read.filter(({ test }) => (test === true) === isTest);
  const shares = transactions
    .map((transaction) => shareOf(transaction, txId))
    .filter(({ payment, reversals }) => payment !== undefined || reversals.length > 0)
    .sort(inOrder);
  if (shares.length === 0) return undefined;
  const payments = shares.map(({ payment }) => payment).filter((payment) => payment !== undefined);
  const isCut = found.length > limit || transactions.some(({ truncated }) => truncated === true);
  return {
    txId,
    status: payments.length > 0 ? 'CONCLUIDA' : 'ATIVA',
    ...present({ amount: amountOf(payments) }),
    pix: shares.map((share) => viewShare(share, txId)),
    ...present({
      test: isTest ? (true as const) : undefined,
      truncated: isCut ? (true as const) : undefined,
    }),
  };
}
