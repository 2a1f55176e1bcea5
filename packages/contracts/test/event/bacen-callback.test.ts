import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { renderBacenCallback, renderNotification } from '../../src/index.js';
import type { PaymentEvent } from '../../src/index.js';

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const ajv = new Ajv2020({ formats: { 'date-time': RFC_3339 } });
const file = join(import.meta.dirname, '..', '..', 'bacen-callback.schema.json');
const isCallback = ajv.compile(JSON.parse(readFileSync(file, 'utf8')) as object);

const endToEndId = 'E12345678202611211403a1b2c3d4e5F';
const txId = '7f3c2b1a9e8d4c5fa6b7c8d9e0f1a2b3';
const event = (fact: Pick<PaymentEvent, 'eventType' | 'data'>): PaymentEvent =>
  ({ id: 'evt_1', tenantId: 'acme', occurredAt: '2026-11-21T14:03:27.512Z', ...fact }) as PaymentEvent;
const rendered = (fact: Pick<PaymentEvent, 'eventType' | 'data'>): unknown =>
  JSON.parse(renderBacenCallback(renderNotification(event(fact))).toString());

const PAYMENT = { endToEndId, valor: '110.00', horario: '2026-11-21T14:03:27.512Z' };
const paidAt = '2026-11-21T14:03:26Z';

it.each<[string, Pick<PaymentEvent, 'eventType' | 'data'>, object]>([
  [
    'a payment of a charge',
    { eventType: 'PIX_DYNAMIC_PAID', data: { txId, endToEndId, amount: '110.00' } },
    { ...PAYMENT, txid: txId },
  ],
  [
    'a payment of a charge with all that it may tell',
    {
      eventType: 'PIX_DYNAMIC_PAID',
      data: { txId, endToEndId, amount: '110.00', paidAt, chargeAmount: '120.00' },
    },
    { ...PAYMENT, txid: txId, horario: paidAt },
  ],
  ['a payment', { eventType: 'PIX_STATIC', data: { endToEndId, amount: '110.00' } }, PAYMENT],
  [
    'a payment with an identifier',
    { eventType: 'PIX_STATIC', data: { endToEndId, amount: '110.00', txId: 'loja1' } },
    { ...PAYMENT, txid: 'loja1' },
  ],
])("the body of %s is Banco Central's", (_, fact, payment) => {
  const body = rendered(fact);
  expect(body).toEqual({ id: 'evt_1', pix: [payment] });
  isCallback(body);
  expect(isCallback.errors).toBeNull();
});

it('the schema of the callback refuses a wrong body', () => {
  expect(isCallback({ id: 'evt_1', pix: [{ ...PAYMENT, valor: 110 }] })).toBe(false);
});

it('a body that is no notification is refused, and not repeated in the reason', () => {
  const render = () => renderBacenCallback(Buffer.from('secret of the payer'));
  expect(render).toThrow('expected a notification');
  expect(render).not.toThrow('payer');
});

it('an event that is no received payment has no callback', () => {
  const data = { endToEndId, amount: '1.00', status: 'REALIZADO' } as const;
  expect(() => rendered({ eventType: 'PIX_OUT', data })).toThrow('PIX_OUT');
});
