import type { ConfigurationRecord, DeliveryTask } from '@webhooks/contracts';
import type { ConfigurationCache, ConfigurationTable } from '../src/configurations/configuration-cache.js';

export const REF = '0191e7a2-0000-7000-8000-000000000001';

export function buildRecord(over: Partial<ConfigurationRecord> = {}): ConfigurationRecord {
  return {
    v: 1,
    tenantId: 'acme',
    ref: REF,
    revision: 1,
    eventType: 'PIX_OUT',
    endpointUrl: 'https://hook.acme.com.br/pix?x=1',
    enabled: true,
    createdAt: '2026-11-21T14:03:27.512Z',
    updatedAt: '2026-11-21T14:03:27.512Z',
    ...over,
  };
}

export function buildTask(over: Partial<DeliveryTask> = {}): DeliveryTask {
  return {
    deliveryId: 'd1',
    cycle: '0',
    eventId: 'evt_1',
    eventType: 'PIX_OUT',
    tenantId: 'acme',
    ref: REF,
    revision: 1,
    attempt: 1,
    dueAt: 0,
    firstDueAt: 0,
    deferralCount: 0,
    origin: { topic: 'payments.events', partition: 0, offset: '1' },
    body: Buffer.from('{}'),
    ...over,
  };
}

/** A cache that is fresh, and counts how often it had to catch up. */
export function fakeCache(
  table: ConfigurationTable,
  onCatchUp: () => void = () => undefined,
): ConfigurationCache & { catchUps: number } {
  const cache = {
    catchUps: 0,
    table,
    reader: {
      isFresh: () => true,
      whenFresh: () => Promise.resolve(),
      catchUp: () => {
        cache.catchUps += 1;
        onCatchUp();
        return Promise.resolve();
      },
    },
  };
  return cache;
}
