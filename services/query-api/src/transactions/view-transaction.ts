import type { EventType, UtcTime } from '@webhooks/contracts';
import { formatCents } from './cents.js';
import type { KnownPayment } from './fact.js';
import type { Transaction } from './merge-facts.js';
import { present } from './present.js';
import { viewReversals } from './view-reversals.js';
import type { ReversalView } from './view-reversals.js';

/** The answer for one Pix; without what only the payment could tell while it is not known. */
export interface TransactionView {
  readonly endToEndId: string;
  readonly eventType?: EventType;
  readonly txId?: string;
  /** Decimal text. */
  readonly amount?: string;
  readonly occurredAt?: UtcTime;
  /** Of an outgoing payment. */
  readonly status?: string;
  readonly reversals: readonly ReversalView[];
  /** A test notification told of it: nothing was paid. */
  readonly test?: true;
  /** More is known than is kept: at most 100 payments and 500 reversals. */
  readonly truncated?: true;
}

function viewPayment(payment: KnownPayment) {
  const { eventType, txId, amountCents, occurredAt, status } = payment;
  return present({ eventType, txId, amount: formatCents(amountCents), occurredAt, status });
}

/** A Pix as its query answers it: the payment whose fact holds over all others, and every reversal. */
export function viewTransaction(transaction: Transaction): TransactionView {
  const { endToEndId, payments, reversals, test, truncated } = transaction;
  const [payment] = payments;
  return {
    endToEndId,
    ...(payment ? viewPayment(payment) : {}),
    reversals: viewReversals(reversals),
    ...present({ test, truncated }),
  };
}
