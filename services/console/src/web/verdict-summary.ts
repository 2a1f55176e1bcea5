import type { FoundEvidence, Verdict } from '@webhooks/client';
import type { Speech } from './language.js';
import { centsOf } from './overview-sentences.js';

/** Verdicts by what somebody does about them, the most urgent first. The others qualify these, and stand before them. */
const GROUPS = {
  ended: ['dead', 'cancelled'],
  waiting: ['refused', 'unreachable', 'paused', 'deferred', 'waiting', 'ending'],
  delivered: ['delivered-late', 'repeated', 'delivered'],
  unsent: ['no-webhook', 'other-type-then', 'registered-later', 'disabled-then'],
} as const;
const NAMES = Object.keys(GROUPS) as (keyof typeof GROUPS)[];
const groupOf = ({ kind }: Pick<Verdict, 'kind'>): number =>
  NAMES.findIndex((name) => (GROUPS[name] as readonly string[]).includes(kind));

export const urgentFirst = (verdicts: readonly Verdict[]): readonly Verdict[] =>
  verdicts.toSorted((one, other) => groupOf(one) - groupOf(other));

/** What of a payment was reversed, in cents. */
export function reversedCents(payment: FoundEvidence['payment']): number {
  const parts = payment && 'pix' in payment ? payment.pix : [payment];
  const done = parts.flatMap((part) => part?.reversals ?? []).filter(({ status }) => status === 'DEVOLVIDO');
  return done.reduce((sum, { amount }) => sum + centsOf(amount), 0);
}

/** Says what became of several notifications: how much was reversed, and how many were given up, wait, were delivered, were not sent. */
export function summaryText(verdicts: readonly Verdict[], reversed: number, { say, money }: Speech): string {
  const counts = NAMES.map((name, group) => {
    const count = verdicts.filter((verdict) => groupOf(verdict) === group).length;
    return count === 0 ? '' : say(`${name}Count`, { count });
  });
  const counted = counts.filter((text) => text !== '').join(', ');
  const sentence = counted === '' ? '' : `${counted}.`;
  const reversal = reversed === 0 ? '' : say('reversedSum', { amount: money((reversed / 100).toFixed(2)) });
  return [reversal, sentence].filter((text) => text !== '').join(' ');
}
