import type { PaymentEvent, UtcTime } from '@webhooks/contracts';
import { by, inTurn } from '../order.js';

/** The events that report a reversal, and those that report a payment. */
export type Reversal = Extract<PaymentEvent, { readonly eventType: 'PIX_REVERSAL' }>;
export type Payment = Exclude<PaymentEvent, Reversal>;

/** Text that sorts as the time does: without trailing zeros of the fraction. */
export const timeKey = (time: UtcTime): string => time.replace(/[.0]*Z$/, '');

/** A payment without a status is settled. */
const isFinal = ({ data }: PaymentEvent): boolean => !('status' in data && data.status === 'NAO_REALIZADO');

/**
 * The order of a tenant's events; of two contradictory ones the greater holds. Final events win, then the later time,
 * then the greater id.
 */
export const compareEvents = inTurn<PaymentEvent>(
  by((event) => Number(isFinal(event))),
  by(({ occurredAt }) => timeKey(occurredAt)),
  by(({ id }) => id),
);

/** An event, and whether a test notification made it: then nothing was paid. */
export interface KnownEvent {
  readonly event: PaymentEvent;
  readonly isTest: boolean;
}

/** One Pix of one tenant. */
export interface Transaction {
  readonly endToEndId: string;
  /** The one that holds comes last; see `compareEvents`. */
  readonly payments: readonly Payment[];
  readonly reversals: readonly Reversal[];
  /** There are more events than were read. */
  readonly truncated: boolean;
  /** Only test notifications report it. The first real event replaces them. */
  readonly test: boolean;
}

const isReversal = (event: PaymentEvent): event is Reversal => event.eventType === 'PIX_REVERSAL';
const isPayment = (event: PaymentEvent): event is Payment => !isReversal(event);

/** Merges the events of one Pix, in any order. `isCut`: there are more of them. */
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
