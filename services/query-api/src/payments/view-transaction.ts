import type { EventType, UtcTime } from '@webhooks/contracts';
import { formatCents, parseCents } from './cents.js';
import type { Payment } from './event-order.js';
import type { Transaction } from './merge-events.js';
import { present } from '../present.js';
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
  /** Ids of the events that told of it; the deliveries of each are found by it. */
  readonly events: readonly string[];
  /** A test notification told of it: nothing was paid. */
  readonly test?: true;
  /** More is known than is answered: of 1,000 events at most. */
  readonly truncated?: true;
}

function viewPayment({ eventType, occurredAt, data }: Payment) {
  const { txId, status }: { readonly txId?: string; readonly status?: string } = data;
  return present({ eventType, txId, amount: formatCents(parseCents(data.amount)), occurredAt, status });
}

/** A Pix as its query answers it: the payment whose event holds over all others, and every reversal. */
export function viewTransaction(transaction: Transaction): TransactionView {
  const { endToEndId, payments, reversals, test, truncated } = transaction;
  const payment = payments.at(-1);
  return {
    endToEndId,
    ...(payment ? viewPayment(payment) : {}),
    reversals: viewReversals(reversals),
    events: [...payments, ...reversals].map(({ id }) => id),
    ...present({ test: test || undefined, truncated: truncated || undefined }),
  };
}
