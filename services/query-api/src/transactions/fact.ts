import type { EventType, PaymentEvent, PaymentFact, ReversalData, UtcTime } from '@webhooks/contracts';
import { parseCents } from './cents.js';
import { present } from './present.js';

interface Known {
  readonly eventId: string;
  readonly occurredAt: UtcTime;
  readonly amountCents: number;
  readonly txId?: string;
}

/** What one event tells of a payment. */
export interface KnownPayment extends Known {
  readonly eventType: Exclude<EventType, 'PIX_REVERSAL'>;
  readonly paidAt?: UtcTime;
  readonly chargeAmountCents?: number;
  /** Only an outgoing payment has one; the others are events only once they are settled. */
  readonly status?: 'REALIZADO' | 'NAO_REALIZADO';
  readonly paymentId?: string;
  readonly reason?: string;
}

/** What one event tells of a reversal. */
export interface KnownReversal extends Known {
  readonly reversalId: string;
  readonly rtrId: string;
  readonly status: ReversalData['status'];
  readonly reason?: string;
  readonly requestedAt?: UtcTime;
  readonly settledAt?: UtcTime;
}

/** What one event tells, and whose transaction it belongs to. */
export interface Fact {
  readonly tenantId: string;
  readonly endToEndId: string;
  /** Told by a test notification: nothing was paid. */
  readonly isTest: boolean;
  readonly payment?: KnownPayment;
  readonly reversal?: KnownReversal;
}

type Told = Pick<Fact, 'payment' | 'reversal'>;

function told(known: Known, fact: PaymentFact): Told {
  switch (fact.eventType) {
    case 'PIX_DYNAMIC_PAID': {
      const { txId, paidAt, chargeAmount } = fact.data;
      const chargeAmountCents = chargeAmount === undefined ? undefined : parseCents(chargeAmount);
      const { eventType } = fact;
      return { payment: { ...known, eventType, txId, ...present({ paidAt, chargeAmountCents }) } };
    }
    case 'PIX_STATIC':
      return {
        payment: { ...known, eventType: fact.eventType, ...present({ txId: fact.data.txId }) },
      };
    case 'PIX_OUT': {
      const { status, paymentId, reason } = fact.data;
      return {
        payment: { ...known, eventType: fact.eventType, status, ...present({ paymentId, reason }) },
      };
    }
    case 'PIX_REVERSAL': {
      const { reversalId, rtrId, status, txId, reason, requestedAt, settledAt } = fact.data;
      const rest = present({ txId, reason, requestedAt, settledAt });
      return { reversal: { ...known, reversalId, rtrId, status, ...rest } };
    }
  }
}

/** What an event tells; fields that are not on the contract's list stay behind (LGPD art. 6). */
export function toFact(event: PaymentEvent, isTest = false): Fact {
  const { id, tenantId, occurredAt, data } = event;
  const known = { eventId: id, occurredAt, amountCents: parseCents(data.amount) };
  return { tenantId, endToEndId: data.endToEndId, isTest, ...told(known, event) };
}
