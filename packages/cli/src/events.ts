import { randomBytes } from 'node:crypto';
import type { EventInput, EventType } from '@webhooks/client';

/** Zeros show a person that the identifier is made up. They are also Banco do Brasil's ISPB, so the rest is random. */
const MADE_UP = '00000000';
const random = (characters: number): string => randomBytes(characters).toString('hex').slice(0, characters);

/** An identifier of a Pix or of a reversal: prefix, ISPB, minute in UTC, 11 characters. */
const identifier = (prefix: 'E' | 'D', at: Date): string =>
  `${prefix}${MADE_UP}${at.toISOString().replaceAll(/[-:T]/g, '').slice(0, 12)}${random(11)}`;

/** Builds a made-up event of this type. */
export function makeEvent(eventType: EventType, amount: string, at = new Date()): EventInput {
  const occurredAt = at.toISOString();
  const endToEndId = identifier('E', at);
  switch (eventType) {
    case 'PIX_DYNAMIC_PAID':
      return { eventType, occurredAt, data: { txId: random(32), endToEndId, amount } };
    case 'PIX_STATIC':
      return { eventType, occurredAt, data: { endToEndId, amount } };
    case 'PIX_REVERSAL':
      return makeReversal(endToEndId, amount, at);
    case 'PIX_OUT':
      return { eventType, occurredAt, data: { endToEndId, amount, status: 'REALIZADO' } };
  }
}

/** Builds a test event of one cent, with an id that begins with `evt_test_`: nothing was paid. */
export const makeTestEvent = (eventType: EventType): EventInput & { readonly id: string } => ({
  ...makeEvent(eventType, '0.01'),
  id: `evt_test_${random(32)}`,
});

/** Builds the reversal of the payment with this `endToEndId`. */
export function makeReversal(endToEndId: string, amount: string, at = new Date()): EventInput {
  const ids = { endToEndId, reversalId: random(32), rtrId: identifier('D', at) };
  const data = { ...ids, amount, status: 'DEVOLVIDO', settledAt: at.toISOString() } as const;
  return { eventType: 'PIX_REVERSAL', occurredAt: data.settledAt, data };
}
