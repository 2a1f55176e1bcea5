import { formatCents, parseCents } from './cents.js';
import { timeKey } from './event-order.js';
import type { Reversal } from './event-order.js';
import { byText, inTurn } from '../order.js';
import { present } from '../present.js';

/** One reversal as a query answers it. */
function toView({ data }: Reversal) {
  const { reversalId, rtrId, amount, status, reason, requestedAt, settledAt } = data;
  const rest = present({ reason, requestedAt, settledAt });
  return { reversalId, rtrId, amount: formatCents(parseCents(amount)), status, ...rest };
}

const inOrder = inTurn<Reversal>(
  byText(({ occurredAt }) => timeKey(occurredAt)),
  byText(({ data }) => data.rtrId),
);

/** One element for each rtrId, as the last of its events tells it, whichever txId they name: the oldest first, then by rtrId. */
export const viewReversals = (reversals: readonly Reversal[]) =>
  [...new Map(reversals.map((one) => [one.data.rtrId, one])).values()].sort(inOrder).map(toView);
