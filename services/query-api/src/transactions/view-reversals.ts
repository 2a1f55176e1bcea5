import type { UtcTime } from '@webhooks/contracts';
import { formatCents } from './cents.js';
import { timeKey, winners } from './fact-order.js';
import type { KnownReversal } from './fact.js';
import { compareText } from '../order.js';
import { present } from './present.js';

/** One reversal as a query answers it. */
export interface ReversalView {
  readonly reversalId: string;
  readonly rtrId: string;
  /** Decimal text. */
  readonly amount: string;
  readonly status: KnownReversal['status'];
  readonly reason?: string;
  readonly requestedAt?: UtcTime;
  readonly settledAt?: UtcTime;
}

function toView(reversal: KnownReversal): ReversalView {
  const { reversalId, rtrId, amountCents, status, reason, requestedAt, settledAt } = reversal;
  const rest = present({ reason, requestedAt, settledAt });
  return { reversalId, rtrId, amount: formatCents(amountCents), status, ...rest };
}

const inOrder = (left: KnownReversal, right: KnownReversal): number =>
  compareText(timeKey(left.occurredAt), timeKey(right.occurredAt)) || compareText(left.rtrId, right.rtrId);

/** One element for each rtrId, whichever txId its facts name: the oldest first, then by rtrId. */
export const viewReversals = (reversals: readonly KnownReversal[]): readonly ReversalView[] =>
  winners(reversals, [], ({ rtrId }) => rtrId)
    .sort(inOrder)
    .map(toView);
