import type { PaymentEvent, PaymentFact } from '@webhooks/contracts';
import { encodeEvent, TEST_EVENT } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { mergeEvents } from '../../../src/payments/merge-events.js';
import type { Transaction } from '../../../src/payments/merge-events.js';

export const TX = 'a'.repeat(26);
export const OTHER_TX = 'b'.repeat(35);
export const E2E = `E${'1'.repeat(31)}`;
export const OTHER_E2E = `E${'2'.repeat(31)}`;
export const RTR = `D${'1'.repeat(31)}`;
export const OTHER_RTR = `D${'2'.repeat(31)}`;
const AT = '2026-11-21T14:03:27.512Z';

interface Envelope {
  readonly id?: string;
  readonly tenantId?: string;
  readonly occurredAt?: string;
}

type DataOf<T extends PaymentFact['eventType']> = Extract<PaymentFact, { eventType: T }>['data'];

const envelope = ({ id = 'evt_1', tenantId = 'acme', occurredAt = AT }: Envelope) => ({
  id,
  tenantId,
  occurredAt,
});

export const paid = (data: Partial<DataOf<'PIX_DYNAMIC_PAID'>> = {}, at: Envelope = {}): PaymentEvent => ({
  ...envelope(at),
  eventType: 'PIX_DYNAMIC_PAID',
  data: { txId: TX, endToEndId: E2E, amount: '110.00', ...data },
});

export const fixed = (data: Partial<DataOf<'PIX_STATIC'>> = {}, at: Envelope = {}): PaymentEvent => ({
  ...envelope(at),
  eventType: 'PIX_STATIC',
  data: { endToEndId: E2E, amount: '7.05', ...data },
});

export const out = (data: Partial<DataOf<'PIX_OUT'>> = {}, at: Envelope = {}): PaymentEvent => ({
  ...envelope(at),
  eventType: 'PIX_OUT',
  data: { endToEndId: E2E, amount: '50.00', status: 'REALIZADO', ...data },
});

export const reversal = (data: Partial<DataOf<'PIX_REVERSAL'>> = {}, at: Envelope = {}): PaymentEvent => ({
  ...envelope(at),
  eventType: 'PIX_REVERSAL',
  data: {
    endToEndId: E2E,
    reversalId: 'r1',
    rtrId: RTR,
    amount: '10.00',
    status: 'DEVOLVIDO',
    ...data,
  },
});

/** The event with an id that says that it was made for a test notification. */
export const asTest = (event: PaymentEvent): PaymentEvent => ({ ...event, id: TEST_EVENT + event.id });

/** What events of one Pix come to; those of `tests` were made for test notifications. */
export const merge = (events: readonly PaymentEvent[], tests: readonly PaymentEvent[] = []): Transaction =>
  mergeEvents([...events, ...tests][0]?.data.endToEndId ?? '', [...events, ...tests.map(asTest)]);

/** A record of `payments.events`. */
export const recordOf = (value: Buffer | null, rest: Partial<KafkaRecord> = {}): KafkaRecord => ({
  topic: 'payments.events',
  partition: 0,
  offset: 0,
  timestamp: Date.now(),
  key: null,
  value,
  headers: {},
  size: value?.byteLength ?? 0,
  ...rest,
});

export const eventRecord = (event: PaymentEvent, rest: Partial<KafkaRecord> = {}): KafkaRecord =>
  recordOf(encodeEvent(event), rest);
