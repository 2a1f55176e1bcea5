import type { PaymentEvent } from '@webhooks/contracts';
import { compareEvents } from './event-order.js';
import type { Payment, Reversal } from './event-order.js';

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
