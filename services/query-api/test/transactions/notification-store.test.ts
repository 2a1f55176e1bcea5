import { renderNotification } from '@webhooks/contracts';
import type { Ask } from '@webhooks/mongodb';
import { randomName } from '@webhooks/testkit';
import type { Models } from '../../src/database.js';
import {
  findNotification,
  keepNotification,
  keepNotifications,
} from '../../src/transactions/notification-store.js';
import { out, paid } from './support/events.js';
import { openTestDatabase } from './support/open-test-database.js';
import type { TestDatabase } from './support/open-test-database.js';

const DAY_MS = 86_400_000;

let open: TestDatabase;
let ask: Ask<Models>;
let tenantId: string;
beforeAll(async () => {
  open = await openTestDatabase(randomName('query_notifications'));
});
beforeEach(() => {
  ask = open.database.within(20_000);
  tenantId = randomName('tenant');
});
afterAll(async () => {
  await open.close();
});

it('gives back the exact bytes of an event, to its own tenant', async () => {
  const event = paid({ paidAt: '2026-11-21T14:03:27Z' }, { tenantId, id: 'evt_A' });
  await keepNotification(ask, event);
  const kept = await findNotification(ask, tenantId, 'evt_A');
  expect(kept).toStrictEqual({ eventType: 'PIX_DYNAMIC_PAID', body: renderNotification(event) });
  expect(await findNotification(ask, 'other', 'evt_A')).toBeUndefined();
  expect(await findNotification(ask, tenantId, 'evt_a')).toBeUndefined();
});

it('the first of an event id stays, and the others of its batch are kept', async () => {
  const first = paid({ amount: '1.00' }, { tenantId });
  const [second, neighbour] = [paid({ amount: '2.00' }, { tenantId }), out({}, { tenantId, id: 'evt_2' })];
  await keepNotification(ask, first);
  const appendedAt = Date.now();
  const events = [second, second, neighbour].map((event) => ({ event, appendedAt }));
  await keepNotifications(ask, events);
  expect((await findNotification(ask, tenantId, first.id))?.body).toEqual(renderNotification(first));
  expect((await findNotification(ask, tenantId, 'evt_2'))?.body).toEqual(renderNotification(neighbour));
});

it('nothing is kept of no events', async () => {
  await expect(keepNotifications(ask, [])).resolves.toBeUndefined();
});

it('is not found when 30 days have passed since it was appended, whether it was removed or not', async () => {
  const event = paid({}, { tenantId });
  const then = Date.now() - 30 * DAY_MS;
  await keepNotifications(ask, [{ event, appendedAt: then - 60_000 }], then);
  expect(await findNotification(ask, tenantId, event.id)).toBeUndefined();
  const younger = paid({}, { tenantId, id: 'evt_2' });
  await keepNotifications(ask, [{ event: younger, appendedAt: then + 60_000 }], then + 120_000);
  expect(await findNotification(ask, tenantId, 'evt_2')).toBeDefined();
});

it.each([
  ['no time', -1, 23],
  ['the year 1970', 1_000, 23],
  ['a time that is no date', 9e18, 30],
  ['tomorrow', Date.now() + DAY_MS, 30],
  ['three days ago', Date.now() - 3 * DAY_MS, 27],
])('a record with %s is kept as if it were as old as the topic can hold', async (_what, appendedAt, days) => {
  const now = Date.now();
  await keepNotifications(ask, [{ event: paid({}, { tenantId }), appendedAt }], now);
  const row = await ask(({ notifications }) => notifications.findById(`${tenantId}/evt_1`).lean().exec());
  expect(Number(row?.expiresAt)).toBeGreaterThan(now + days * DAY_MS - 60_000);
  expect(Number(row?.expiresAt)).toBeLessThan(now + days * DAY_MS + 60_000);
});

it('the database is told to remove what has expired', async () => {
  const indexes = await ask(({ notifications }) => notifications.collection.indexes());
  expect(indexes).toContainEqual(expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }));
});
