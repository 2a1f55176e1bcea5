import type {
  Change,
  DeliveryAttempt,
  DeliveryDetail,
  EndpointHealth,
  Transaction,
} from '../../src/index.js';
import type { ExplainedEvent, ExplainedWebhook } from '../../src/index.js';

const TODAY = '2026-11-21';
/** A time of the day in UTC; São Paulo is three hours behind. */
export const at = (time: string): string => `${TODAY}T${time}.000Z`;
export const NOW = Date.parse(at('15:00:00'));

export const EVENT: ExplainedEvent = {
  id: 'evt_1',
  eventType: 'PIX_STATIC',
  body: '{"id":"evt_1","eventType":"PIX_STATIC","data":{"endToEndId":"E1","amount":"87.30"}}',
  receivedAt: at('14:03:00'),
};
export const WEBHOOK: ExplainedWebhook = {
  ref: 'r1',
  eventType: 'PIX_STATIC',
  endpointUrl: 'https://hook.acme.com.br/pix?key=secret',
  enabled: true,
  createdAt: at('01:00:00'),
  changes: [],
};
export const DISABLED = { ...WEBHOOK, enabled: false };
export const PAYMENT: Transaction = { endToEndId: 'E1', reversals: [], events: ['evt_1'] };

export const change = (time: string, field: string, from: string | boolean): Change => ({
  ...{ at: at(time), action: 'update', client: 'shop', revision: 2 },
  fields: [{ field, from }],
});
export const ok = (time: string, cycle = '0'): DeliveryAttempt => ({
  ...{ attempt: 1, cycle, redelivery: cycle !== '0', at: at(time), durationMs: 9 },
  ...{ result: 'delivered', status: 200 },
});
export const failed = (time: string, how: Partial<DeliveryAttempt> = { status: 500 }): DeliveryAttempt => ({
  ...{ attempt: 1, cycle: '0', redelivery: false, at: at(time), durationMs: 9, result: 'failed' },
  ...how,
});
export const delivery = (more: Partial<DeliveryDetail>): DeliveryDetail => ({
  ...{ deliveryId: 'd1', ref: 'r1', eventId: 'evt_1', eventType: 'PIX_STATIC', status: 'pending' },
  ...{ cycle: '0', redelivery: false, createdAt: at('14:03:01'), updatedAt: at('14:30:00'), attempts: [] },
  ...more,
});
export const health = (
  state: EndpointHealth['state'],
  more: Partial<EndpointHealth> = {},
): EndpointHealth => ({
  ...{ ref: 'r1', state, failures: [] },
  ...{ lastHour: { from: at('14:00:00'), attempts: 0 }, lastDay: { from: at('00:00:00'), attempts: 0 } },
  ...more,
});
