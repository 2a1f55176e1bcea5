import { parseStrictJson } from '../json/strict-json.js';
import type { DynamicPaidData, PaymentEvent, StaticData } from './payment-event.js';

/**
 * Renders a notification (see `renderNotification`) as the callback `…/pix` of Banco Central's API Pix: a list of one
 * payment. Throws for an event that is no received payment: the callback cannot express it. config-api refuses this
 * format for such events.
 */
export function renderBacenCallback(notification: Buffer): Buffer {
  const parsed = parseStrictJson(notification);
  // Not by `JSON.parse`, whose error message repeats a part of the text.
  if (!parsed.ok) throw new Error(`expected a notification, got ${parsed.fault}`);
  const event = parsed.value as Omit<PaymentEvent, 'tenantId'>;
  const { id, eventType, occurredAt } = event;
  if (eventType !== 'PIX_DYNAMIC_PAID' && eventType !== 'PIX_STATIC')
    throw new Error(`expected the event of a received payment, got ${eventType}`);
  const { endToEndId, txId: txid, amount: valor, paidAt } = event.data as DynamicPaidData & StaticData;
  return Buffer.from(
    JSON.stringify({ id, pix: [{ endToEndId, txid, valor, horario: paidAt ?? occurredAt }] }),
  );
}
