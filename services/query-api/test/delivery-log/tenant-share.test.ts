import { createConcurrencyLimiter } from '@webhooks/http-api';
import type { ApiReply, ApiRequest } from '@webhooks/http-api';
import { createDeliveryOperations } from '../../src/delivery-log/operations.js';
import type { DeliveryPage, DeliveryStore } from '../../src/delivery-log/delivery-store.js';

it('a tenant with many lists at once gets 429 with Retry-After beyond its share, and other tenants do not', async () => {
  const answered = Promise.withResolvers<DeliveryPage>();
  const page = (): Promise<DeliveryPage> => answered.promise;
  const [list] = createDeliveryOperations({
    storeFor: () => ({ page, eventsOf: () => Promise.resolve(new Map()) }) as unknown as DeliveryStore,
    configurations: { known: () => undefined },
    lists: createConcurrencyLimiter({ total: 8 }),
    catchUp: () => Promise.resolve('passed'),
  });
  if (!list) throw new Error('expected the list to come first');
  const ask = (tenantId: string): Promise<ApiReply> =>
    list.handle({
      identity: { clientId: 'client', tenantId, scopes: new Set(['delivery.read']) },
      query: new URLSearchParams(),
    } as unknown as ApiRequest);
  const many = Promise.allSettled(Array.from({ length: 60 }, () => ask('acme')));
  const other = ask('globex');
  answered.resolve({ rows: [] });
  const refused = (await many).flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  expect(refused).toHaveLength(56);
  expect(refused[0]).toMatchObject({ code: 'too-many-requests', headers: { 'retry-after': '1' } });
  expect(await other).toMatchObject({ status: 200, body: { results: 0 } });
  expect(await ask('acme')).toMatchObject({ status: 200 });
});
