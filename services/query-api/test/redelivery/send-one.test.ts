import { createConcurrencyLimiter } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { Closers, HealthBoard, Registry } from '@webhooks/runtime';
import { randomName } from '@webhooks/testkit';
import { mergeEntries } from '../../src/delivery-log/merge-entries.js';
import { storeEvents } from '../../src/payments/event-store.js';
import type { CatchUpResult } from '../../src/projection/catch-up.js';
import { composeRedelivery } from '../../src/redelivery/compose.js';
import { delivered } from '../delivery-log/support/entries.js';
import { eventRecord, out } from '../payments/support/events.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import { ENABLED, upToDate } from './support/open-rig.js';

it('a notification that is not projected yet is not refused as expired', async () => {
  const test = await openTestDatabase(randomName('redeliver'));
  const closers = new Closers();
  const silent = () => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const delivery = mergeEntries(undefined, [delivered()]);
  let catchUp: () => Promise<CatchUpResult> = () => Promise.resolve('late');
  const configuration = { ...ENABLED, eventType: 'PIX_OUT' } as const;
  const operations = composeRedelivery(
    {
      ...{ database: test.database, publish: () => Promise.resolve(), ratePerSecond: 1 },
      ...{
        retentionMs: 86_400_000,
        logRetentionMs: 86_400_000,
        lists: createConcurrencyLimiter({ total: 8 }),
      },
      configurations: { known: () => configuration, current: () => Promise.resolve(configuration), upToDate },
      findDelivery: () => Promise.resolve(delivery),
      catchUp: () => catchUp(),
    },
    {
      ...{ log, health: new HealthBoard(), registry: new Registry(), addPage: silent, fail: silent },
      onClose: (name, close) => closers.add(name, close),
    },
  );
  const redeliver = operations.find(({ path }) => path.endsWith('/redeliver'));
  const request = {
    identity: { tenantId: 'acme' },
    params: { deliveryId: delivery.deliveryId },
  } as unknown as ApiRequest;
  await expect(redeliver?.handle(request)).rejects.toMatchObject({ code: 'unavailable' });
  catchUp = () => Promise.resolve('passed');
  await expect(redeliver?.handle(request)).rejects.toMatchObject({ code: 'not-redeliverable' });
  catchUp = async () => {
    await storeEvents(test.database.within(5_000), [eventRecord(out())]);
    return 'passed';
  };
  expect(await redeliver?.handle(request)).toMatchObject({ status: 202 });
  await closers.closeAll(log, 10_000);
  await test.close();
});
