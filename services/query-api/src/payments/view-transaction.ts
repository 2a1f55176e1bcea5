import { formatCents, parseCents } from './cents.js';
import type { Payment } from './event-order.js';
import type { Transaction } from './merge-events.js';
import { present } from '../present.js';
import { viewReversals } from './view-reversals.js';

function viewPayment({ eventType, occurredAt, data }: Payment) {
  const { txId, status }: { readonly txId?: string; readonly status?: string } = data;
  return present({ eventType, txId, amount: formatCents(parseCents(data.amount)), occurredAt, status });
}

/**
 * A Pix as its query answers it: the payment whose event holds over all others, and every reversal. Without what only the
 * payment could tell while it is not known.
 */
export function viewTransaction(transaction: Transaction) {
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
