import { parseStrictJson } from '../json/strict-json.js';
import type { DynamicPaidData, PaymentEvent, StaticData } from './payment-event.js';

/**
 * Renders a notification (see `renderNotification`) as the callback `…/pix` of Banco Central's API Pix: a list of its one payment.
 * Throws for an event that is no received payment, for which the callback has no form. config-api refuses such a policy.
 */
export function renderBacenCallback(notification: Buffer): Buffer {
  const parsed = parseStrictJson(notification);
  // Not by `JSON.parse`, whose message repeats what it read.
  if (!parsed.ok) throw new Error(`expected a notification, got ${parsed.fault}`);
  const event = parsed.value as Omit<PaymentEvent, 'tenantId'>;
  const { id, eventType, occurredAt } = event;
  if (eventType !== 'PIX_DYNAMIC_PAID' && eventType !== 'PIX_STATIC')
    throw new Error(`expected an event of a payment received, got ${eventType}`);
  const { endToEndId, txId: txid, amount: valor, paidAt } = event.data as DynamicPaidData & StaticData;
  return Buffer.from(
    JSON.stringify({ id, pix: [{ endToEndId, txid, valor, horario: paidAt ?? occurredAt }] }),
  );
}
