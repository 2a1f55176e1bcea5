import type { Money } from '@webhooks/contracts';

/**
 * Integer cents of an amount that matches `\d{1,10}\.\d{2}`: at most 10^12, so that 1,000 of them still add up exactly
 * (2^53 is about 9 × 10^15).
 */
export const parseCents = (amount: Money): number => Number(amount.replace('.', ''));

/** Decimal text with two places. A sum may have more than ten digits before the point. */
export function formatCents(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
