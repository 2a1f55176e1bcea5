import { randomName } from '@webhooks/testkit';
import type { viewDelivery } from '../../src/delivery-log/view-delivery.js';
import { baseOf, deadRecord, delivered, failed, packRecord, T0 } from './support/entries.js';
import { openLog, WEBHOOK } from './support/open-log.js';
import type { OpenLog } from './support/open-log.js';

let log: OpenLog;
beforeAll(async () => {
  log = await openLog(randomName('query_log'));
});
afterAll(() => log.close());

const time = (ms: number): string => new Date(ms).toISOString();

describe('one delivery', () => {
  it('has all its attempts, and marks those of a redelivery', async () => {
    const place = { tenantId: randomName('tenant') };
    const cycle = 'r0191e7a2-0000-7000-8000-00000000000a';
    const { deliveryId, tenantId, ref, eventId } = baseOf(place);
    await log.apply(
      packRecord(delivered({ cycle, at: T0 + 90_000 }, place)),
      deadRecord({ attempt: 2, history: `v1 1:${T0}:12:503 2:${T0 + 5_000}:30:TLS:CERT_HAS_EXPIRED` }, place),
      packRecord(failed({}, place)),
    );
    expect((await log.get(tenantId, deliveryId)).body).toEqual({
      deliveryId,
      ref,
      eventId,
      eventType: 'PIX_OUT',
      endpointUrl: WEBHOOK.endpointUrl,
      status: 'delivered',
      cycle,
      redelivery: true,
      createdAt: time(T0),
      updatedAt: time(T0 + 90_000),
      lastAttempt: 1,
      lastStatus: 200,
      attempts: [
        {
          attempt: 1,
          cycle: '0',
          redelivery: false,
          at: time(T0),
          durationMs: 12,
          result: 'failed',
          status: 503,
          cause: 'The endpoint, or a proxy before it, failed: look at its log at the time of the attempt.',
          nextAt: time(T0 + 5_000),
        },
        {
          attempt: 2,
          cycle: '0',
          redelivery: false,
          at: time(T0 + 5_000),
          durationMs: 30,
          result: 'failed',
          error: 'TLS',
          code: 'CERT_HAS_EXPIRED',
          cause: 'The certificate has expired: renew it, and let the server load the new one.',
        },
        {
          attempt: 1,
          cycle,
          redelivery: true,
          at: time(T0 + 90_000),
          durationMs: 12,
          result: 'delivered',
          status: 200,
        },
      ],
    } satisfies ReturnType<typeof viewDelivery>);
  });

  it('of another tenant looks exactly like an unknown one', async () => {
    const place = { tenantId: randomName('tenant') };
    const { deliveryId } = baseOf(place);
    await log.apply(packRecord(delivered({}, place)));
    const refusal = async (id: string): Promise<unknown> =>
      log.get('a-neighbour', id).catch((error: unknown) => error);
    const foreign = await refusal(deliveryId);
    expect(foreign).toMatchObject({ code: 'not-found', violations: [] });
    expect(foreign).toEqual(await refusal('a'.repeat(52)));
  });

  it.each([
    '',
    'a'.repeat(51),
    'a'.repeat(53),
    'A'.repeat(52),
    '1'.repeat(52),
    `${'a'.repeat(51)}\n`,
    '{"$gt":""}',
  ])('cannot have the id %j', async (id) => {
    await expect(log.get('acme', id)).rejects.toMatchObject({
      code: 'invalid-request',
      violations: [{ property: 'deliveryId' }],
    });
  });
});

describe('the operations', () => {
  it('need the scope for reading deliveries', () => {
    expect(log.operations.map(({ method, path, scopes }) => [method, path, scopes])).toEqual([
      ['GET', '/integration/v1/webhooks/deliveries', ['delivery.read']],
      ['GET', '/integration/v1/webhooks/deliveries/:deliveryId', ['delivery.read']],
    ]);
  });
});
