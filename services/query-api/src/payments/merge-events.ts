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

/** An event that is known, and whether a test notification told of it: nothing was paid then. */
export interface KnownEvent {
  readonly event: PaymentEvent;
  readonly isTest: boolean;
}

/** What is known of one Pix of one tenant. */
export interface Transaction {
  readonly endToEndId: string;
  /** The one that holds comes last; see `compareEvents`. */
  readonly payments: readonly Payment[];
  readonly reversals: readonly Reversal[];
  /** There are more events than were read. */
  readonly truncated: boolean;
  /** Told by test notifications only: the first real event takes their place. */
  readonly test: boolean;
}

const isReversal = (event: PaymentEvent): event is Reversal => event.eventType === 'PIX_REVERSAL';
const isPayment = (event: PaymentEvent): event is Payment => !isReversal(event);

/** What the events of one Pix come to, in whatever order they are given. `isCut`: there are more of them. */
export function mergeEvents(endToEndId: string, known: readonly KnownEvent[], isCut = false): Transaction {
  const test = known.every(({ isTest }) => isTest);
  const events = known
    .filter(({ isTest }) => isTest === test)
    .map(({ event }) => event)
    .sort(compareEvents);
  return {
    endToEndId,
    payments: events.filter(isPayment),
    reversals: events.filter(isReversal),
    truncated: isCut,
    test,
  };
}
