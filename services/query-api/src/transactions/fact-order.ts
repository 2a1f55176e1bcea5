import type { UtcTime } from '@webhooks/contracts';
import { compareText } from '../order.js';
import type { KnownPayment, KnownReversal } from './fact.js';

/** Length of a time up to its seconds: `2026-11-21T14:03:27`. */
const TO_SECONDS = 19;
const FRACTION_DIGITS = 9;

/** A text that sorts as the time does: fractions have one to nine digits, or are absent. */
export const timeKey = (time: UtcTime): string =>
  time.slice(0, TO_SECONDS) + time.slice(TO_SECONDS + 1, -1).padEnd(FRACTION_DIGITS, '0');

type Known = KnownPayment | KnownReversal;

/** A payment without a status is settled: that is when its event is made. */
const isFinal = ({ status }: Known): boolean => status !== 'NAO_REALIZADO';

const canonicalJson = (known: Known): string =>
  JSON.stringify(Object.entries(known).sort(([left], [right]) => compareText(left, right)));

/**
 * The total order of facts: the greater of two contradictory ones holds. The final one, then the later,
 * then the one with the greater event id; what is equal in all of that is ordered by its content, so that only equal
 * facts compare as 0.
 */
export function compareFacts(left: Known, right: Known): number {
  return (
    Number(isFinal(left)) - Number(isFinal(right)) ||
    compareText(timeKey(left.occurredAt), timeKey(right.occurredAt)) ||
    compareText(left.eventId, right.eventId) ||
    compareText(canonicalJson(left), canonicalJson(right))
  );
}

/** The fact that holds of each key, the greatest first. What is in `known` stays in place of an equal one. */
export function winners<T extends Known>(
  known: readonly T[],
  more: readonly T[],
  keyOf: (fact: T) => string,
): T[] {
  const best = new Map<string, T>();
  for (const fact of [...known, ...more]) {
    const key = keyOf(fact);
    const held = best.get(key);
    if (held === undefined || compareFacts(fact, held) > 0) best.set(key, fact);
  }
  return [...best.values()].sort((left, right) => compareFacts(right, left));
}
