import { TEST_EVENT, type PaymentEvent, type UtcTime } from '@webhooks/contracts';
import { orderBy, chainOrders } from '../order.js';

/** An event that reports a reversal. */
export type Reversal = Extract<PaymentEvent, { readonly eventType: 'PIX_REVERSAL' }>;
/** An event that reports a payment. */
export type Payment = Exclude<PaymentEvent, Reversal>;

/** A time as text that sorts by time: without trailing zeros of the seconds and their fraction. */
export const timeKey = (time: UtcTime): string => time.replace(/[.0]*Z$/, '');

/** A payment without a status is settled. */
const isFinal = ({ data }: PaymentEvent): boolean => !('status' in data && data.status === 'NAO_REALIZADO');

/**
 * The order of a tenant's events: of two that contradict, the greater wins. Final events win, then the later time, then
 * the greater id.
 */
export const compareEvents = chainOrders<PaymentEvent>(
  orderBy((event) => Number(isFinal(event))),
  orderBy(({ occurredAt }) => timeKey(occurredAt)),
  orderBy(({ id }) => id),
);

/** One Pix of one tenant. */
export interface Transaction {
  readonly endToEndId: string;
  /** The one that wins comes last; see `compareEvents`. */
  readonly payments: readonly Payment[];
  readonly reversals: readonly Reversal[];
  /** True when there are more events than were read. */
  readonly truncated: boolean;
  /** True while only test events report this Pix. The first real event replaces them. */
  readonly test: boolean;
}

const isReversal = (event: PaymentEvent): event is Reversal => event.eventType === 'PIX_REVERSAL';
const isPayment = (event: PaymentEvent): event is Payment => !isReversal(event);

/** Whether the id of an event says that nothing was paid. */
const isTestEvent = ({ id }: PaymentEvent): boolean => id.startsWith(TEST_EVENT);

/** Merges the events of one Pix, in any order. `id`: its endToEndId. `truncated`: there are more of them. */
export function mergeEvents(id: string, known: readonly PaymentEvent[], truncated = false): Transaction {
  const test = known.every(isTestEvent);
  const events = known.filter((event) => isTestEvent(event) === test).sort(compareEvents);
  return {
    endToEndId: id,
    payments: events.filter(isPayment),
    reversals: events.filter(isReversal),
    truncated,
    test,
  };
}
