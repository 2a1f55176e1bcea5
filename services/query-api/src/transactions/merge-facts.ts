import type { Fact, KnownPayment, KnownReversal } from './fact.js';
import { winners } from './fact-order.js';

/** Everything that is known of one Pix of one tenant. */
export interface Transaction {
  readonly tenantId: string;
  readonly endToEndId: string;
  /** Every txId that its payments and reversals name, sorted. */
  readonly txIds: readonly string[];
  /** The fact that holds for each event type and txId (or none), the greatest first; at most 100. */
  readonly payments: readonly KnownPayment[];
  /** The fact that holds for each rtrId and txId (or none), the greatest first; at most 500. */
  readonly reversals: readonly KnownReversal[];
  /** Some fact did not find room; once set it stays. */
  readonly truncated?: true;
  /** Told by test notifications only: the first real fact takes their place. */
  readonly test?: true;
}

export const MAX_PAYMENTS = 100;
export const MAX_REVERSALS = 500;

const paymentKey = ({ eventType, txId }: KnownPayment): string => `${eventType} ${txId ?? ''}`;
const reversalKey = ({ rtrId, txId }: KnownReversal): string => `${rtrId} ${txId ?? ''}`;

const sameItems = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((item, at) => item === right[at]);

const txIdsOf = (facts: readonly { readonly txId?: string }[]): string[] =>
  [...new Set(facts.map(({ txId }) => txId).filter((txId) => txId !== undefined))].sort();

/** The document that the facts add to: none when it was told by tests and a real fact displaces it. */
function baseOf(document: Transaction | undefined, isTest: boolean): Transaction | undefined {
  return document !== undefined && (document.test === true) === isTest ? document : undefined;
}

const EMPTY = { payments: [], reversals: [] } as const;

const told = <T>(facts: readonly Fact[], facet: (fact: Fact) => T | undefined): T[] =>
  facts.map(facet).filter((one) => one !== undefined);

function mergeSame(
  base: Pick<Transaction, 'payments' | 'reversals' | 'truncated'>,
  { tenantId, endToEndId }: Pick<Fact, 'tenantId' | 'endToEndId'>,
  facts: readonly Fact[],
): Omit<Transaction, 'test'> {
  const payments = winners(
    base.payments,
    told(facts, ({ payment }) => payment),
    paymentKey,
  );
  const reversals = winners(
    base.reversals,
    told(facts, ({ reversal }) => reversal),
    reversalKey,
  );
  const isCut = payments.length > MAX_PAYMENTS || reversals.length > MAX_REVERSALS;
  const kept = { payments: payments.slice(0, MAX_PAYMENTS), reversals: reversals.slice(0, MAX_REVERSALS) };
  return {
    tenantId,
    endToEndId,
    txIds: txIdsOf([...kept.payments, ...kept.reversals]),
    ...kept,
    ...(isCut || base.truncated ? { truncated: true as const } : {}),
  };
}

const isSame = (base: Transaction, merged: Omit<Transaction, 'test'>): boolean =>
  sameItems(base.payments, merged.payments) &&
  sameItems(base.reversals, merged.reversals) &&
  base.truncated === merged.truncated;

/**
 * Adds facts of one transaction (one at least) to what is known of it. The order of the facts, their repetition and
 * their division into calls make no difference: of each key the greatest fact holds, and what is kept of too many keys
 * are the greatest ones by the same order. Returns `document` itself when nothing changes.
 */
export function mergeFacts(
  document: Transaction | undefined,
  facts: readonly [Fact, ...Fact[]],
): Transaction {
  const isTest = (document === undefined || document.test === true) && facts.every((fact) => fact.isTest);
  const base = baseOf(document, isTest);
  const merged = mergeSame(
    base ?? EMPTY,
    facts[0],
    facts.filter((fact) => fact.isTest === isTest),
  );
  if (base !== undefined && isSame(base, merged)) return base;
  return isTest ? { ...merged, test: true } : merged;
}
