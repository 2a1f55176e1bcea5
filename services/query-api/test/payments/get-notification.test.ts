import { renderNotification } from '@webhooks/contracts';
import type { ApiRequest } from '@webhooks/http-api';
import { randomName } from '@webhooks/testkit';
import { findEvent } from '../../src/payments/find-events.js';
import { createNotificationOperation } from '../../src/payments/get-notification.js';
import { storeEvents, storeTestEvent } from '../../src/payments/event-store.js';
import type { CatchUpResult } from '../../src/projection/catch-up.js';
import { faultOf } from '../support/openapi.js';
import { eventRecord, fixed, paid } from './support/events.js';
import { openTestDatabase } from './support/open-test-database.js';
import type { TestDatabase } from './support/open-test-database.js';

const HOUR_MS = 3_600_000;
let open: TestDatabase;
let tenantId: string;
let catchUp: () => Promise<CatchUpResult>;
beforeAll(async () => {
  open = await openTestDatabase(randomName('query_notification'));
});
beforeEach(() => {
  [tenantId, catchUp] = [randomName('tenant'), () => Promise.resolve('passed')];
});
afterAll(() => open.close());

const within = () => open.database.within(20_000);
const operation = createNotificationOperation({
  findEvent: (tenant, eventId) => findEvent(within(), tenant, eventId, () => catchUp()),
  retentionMs: HOUR_MS,
});

async function get(eventId: string, tenant = tenantId): Promise<unknown> {
  const request = { identity: { tenantId: tenant }, params: { eventId } };
  const { body } = await operation.handle(request as unknown as ApiRequest);
  expect(faultOf({ $ref: '#/components/schemas/StoredNotification' }, body)).toBeUndefined();
  return body;
}

it('is the exact text that is posted, with when its event was appended', async () => {
  const event = paid({ chargeAmount: '110.00' }, { tenantId });
  const timestamp = Date.now() - 1_000;
  catchUp = async () => {
    await storeEvents(within(), [eventRecord(event, { timestamp })]);
    return 'passed';
  };
  expect(await get('evt_1')).toEqual({
    ...{ id: 'evt_1', eventType: 'PIX_DYNAMIC_PAID', body: renderNotification(event).toString() },
    receivedAt: new Date(timestamp).toISOString(),
  });
  await expect(get('evt_1', 'other')).rejects.toMatchObject({ code: 'not-found' });
});

it('of a test has no time of its event', async () => {
  await storeTestEvent(within(), fixed({}, { tenantId, id: 'evt_test_1' }));
  expect(await get('evt_test_1')).not.toHaveProperty('receivedAt');
});

it('is 404 when nobody reported it or it is no longer stored, and 503 when that cannot be known', async () => {
  await storeEvents(within(), [eventRecord(paid({}, { tenantId }), { timestamp: Date.now() - HOUR_MS })]);
  for (const id of ['evt_1', 'evt_2']) await expect(get(id)).rejects.toMatchObject({ code: 'not-found' });
  catchUp = () => Promise.resolve('late');
  await expect(get('evt_2')).rejects.toMatchObject({ code: 'unavailable' });
});
