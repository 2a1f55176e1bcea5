import { randomInt } from 'node:crypto';
import type { EventType, PaymentEvent, PaymentFact } from './payment-event.js';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Zeros show a person that it is made up. They are Banco do Brasil's ISPB, so what follows is random. */
const MADE_UP = '00000000';
const TX_ID_CHARACTERS = 32;
const AMOUNT = '0.01';
/** How the id of a test notification's event begins. */
export const TEST_EVENT = 'evt_test_';

const randomText = (characters: number): string =>
  Array.from({ length: characters }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/** An identifier of a Pix or of a reversal in the strict form: prefix, ISPB, minute in UTC, 11 characters. */
function identifier(prefix: 'E' | 'D', now: Date): string {
  const minute = now.toISOString().replaceAll(/[-:T]/g, '').slice(0, 12);
  return `${prefix}${MADE_UP}${minute}${randomText(11)}`;
}

function makeFact(eventType: EventType, now: Date): PaymentFact {
  const endToEndId = identifier('E', now);
  const txId = `test${randomText(TX_ID_CHARACTERS - 4)}`;
  switch (eventType) {
    case 'PIX_DYNAMIC_PAID':
      return { eventType, data: { txId, endToEndId, amount: AMOUNT, paidAt: now.toISOString() } };
    case 'PIX_STATIC':
      return { eventType, data: { endToEndId, amount: AMOUNT } };
    case 'PIX_REVERSAL': {
      const reversal = { reversalId: `test${randomText(12)}`, rtrId: identifier('D', now) };
      return { eventType, data: { endToEndId, ...reversal, amount: AMOUNT, status: 'DEVOLVIDO' } };
    }
    case 'PIX_OUT':
      return { eventType, data: { endToEndId, amount: AMOUNT, status: 'REALIZADO' } };
  }
}

/** An event that never happened, of one cent, whose identifiers nobody else has; `id` is its event id. */
export function makeTestEvent(
  { tenantId, eventType }: { readonly tenantId: string; readonly eventType: EventType },
  id: string,
  now: Date,
): PaymentEvent {
  return { id, tenantId, occurredAt: now.toISOString(), ...makeFact(eventType, now) };
}
