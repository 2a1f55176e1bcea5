import type { PaymentEvent, UtcTime } from '@webhooks/contracts';
import { byNumber, byText, inTurn } from '../order.js';

/** What an event tells of a reversal, and of a payment. */
export type Reversal = Extract<PaymentEvent, { readonly eventType: 'PIX_REVERSAL' }>;
export type Payment = Exclude<PaymentEvent, Reversal>;

/** A text that sorts as the time does: without the zeros at its end, which a fraction may have or not. */
export const timeKey = (time: UtcTime): string => time.replace(/[.0]*Z$/, '');

/** A payment without a status is settled: that is when its event is made. */
const isFinal = ({ data }: PaymentEvent): boolean => !('status' in data && data.status === 'NAO_REALIZADO');

/**
 * The order of a tenant's events: the greater of two contradictory ones holds. That is the final one, then the later, then
 * the one with the greater id; no two have the same.
 */
export const compareEvents = inTurn<PaymentEvent>(
  byNumber((event) => Number(isFinal(event))),
  byText(({ occurredAt }) => timeKey(occurredAt)),
  byText(({ id }) => id),
);
