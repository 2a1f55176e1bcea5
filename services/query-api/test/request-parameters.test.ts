import type { ApiRequest } from '@webhooks/http-api';
import { createDeliveryOperations } from '../src/delivery-log/operations.js';
import { createNotificationOperation } from '../src/payments/get-notification.js';
import { redeliveryOperations } from '../src/redelivery/compose.js';
import type { RedeliveryParts } from '../src/redelivery/compose.js';
import { parseTime } from '../src/request-parameters.js';

it.each([
  ['2026-11-21T14:03:27Z', '2026-11-21T14:03:27.000Z'],
  ['2026-11-21T14:03:27.512Z', '2026-11-21T14:03:27.512Z'],
  ['2026-11-21T14:03:27.512000Z', '2026-11-21T14:03:27.512Z'],
  ['2026-11-21T14:03:27.512000001Z', '2026-11-21T14:03:27.513Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z'],
  ['0000-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59.999Z'],
])('%s is read as %s', (text, time) => {
  expect(parseTime(text)?.toISOString()).toBe(time);
});

it.each(['', '2026-11-21', '2026-11-21T14:03:27+01:00', '2026-02-30T00:00:00Z'])('%p is no time', (text) => {
  expect(parseTime(text)).toBeUndefined();
});

const nothing = (): never => {
  throw new Error('expected to be refused before anything is looked for');
};
const operations = [
  createNotificationOperation({ findEvent: nothing, retentionMs: 1 }),
  ...createDeliveryOperations({
    ...{ storeFor: nothing, catchUp: nothing, lists: { run: nothing }, configurations: { known: nothing } },
  }),
  ...redeliveryOperations({ storeFor: nothing, findDelivery: nothing } as unknown as RedeliveryParts),
].flatMap((operation) => {
  const property = /:(\w+)/.exec(operation.path)?.[1];
  // `refOf` belongs to http-api.
  return property === undefined || property === 'ref' ? [] : [{ ...operation, property }];
});

const requestOf = (params: Readonly<Record<string, string>>): ApiRequest => ({
  identity: { clientId: 'client', tenantId: 'acme', scopes: new Set() },
  requestId: 'request',
  params,
  query: new URLSearchParams(),
  header: () => undefined,
  body: Buffer.alloc(0),
  isOver: () => false,
});

describe('an id in a path', () => {
  it.each(operations)('of $method $path is refused when it is malformed', async ({ handle, property }) => {
    const short = property === 'eventId' ? [] : ['0', 'a'.repeat(51), '0193510A-7C1E-7B1A-9F54-2D6C8A1B0E4F'];
    for (const id of ['', `${'a'.repeat(51)}/`, 'a'.repeat(65), ...short])
      await expect(handle(requestOf({ [property]: id }))).rejects.toMatchObject({ code: 'invalid-request' });
  });

  it('belongs to five operations', () => {
    expect(
      operations.map(({ method, path }) => `${method} ${path.replace(/.*v1\/(webhooks\/)?/, '')}`),
    ).toEqual([
      'GET notifications/:eventId',
      'GET deliveries/:deliveryId',
      'POST deliveries/:deliveryId/redeliver',
      'GET redeliveries/:id',
      'POST redeliveries/:id/cancel',
    ]);
  });
});
