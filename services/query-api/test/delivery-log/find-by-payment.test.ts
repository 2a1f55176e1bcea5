import { randomName } from '@webhooks/testkit';
import type { DeliveryList } from '../../src/delivery-log/operations.js';
import { storeEvents } from '../../src/payments/event-store.js';
import { MAX_EVENTS } from '../../src/payments/find-events.js';
import type { CatchUpResult } from '../../src/projection/catch-up.js';
import { baseOf, delivered, OTHER_REF, packRecord } from './support/entries.js';
import { openLog, WEBHOOK } from './support/open-log.js';
import type { OpenLog } from './support/open-log.js';
import {
  E2E,
  eventRecord,
  OTHER_E2E,
  OTHER_TX,
  out,
  paid,
  reversal,
  TX,
} from '../payments/support/events.js';

/** What comes to be known while somebody waits, and how the wait ends. */
let meanwhile: () => Promise<unknown>;
let result: CatchUpResult;
let waits: boolean[];
let log: OpenLog;
let tenantId: string;
beforeAll(async () => {
  log = await openLog(randomName('query_log'), async (withEvents) => {
    waits.push(withEvents);
    await meanwhile();
    return result;
  });
});
beforeEach(() => {
  [meanwhile, result, waits, tenantId] = [() => Promise.resolve(), 'passed', [], randomName('tenant')];
});
afterAll(() => log.close());

/** A payment of a charge, its reversal that does not name the charge, and a Pix of another charge and of none. */
const EVENTS = [
  ['paid', paid],
  ['reversed', reversal],
  ['other', (_data: object, at: object) => paid({ txId: OTHER_TX, endToEndId: OTHER_E2E }, at)],
  ['none', (_data: object, at: object) => out({ endToEndId: `E${'3'.repeat(31)}` }, at)],
] as const;
const keep = () =>
  storeEvents(
    log.runQuery,
    EVENTS.map(([id, make]) => eventRecord(make({}, { id, tenantId }))),
  );
const deliver = (...eventIds: readonly string[]) =>
  log.apply(packRecord(...eventIds.map((eventId) => delivered({}, { tenantId, eventId }))));
const eventsOf = async (query: string, asker = tenantId): Promise<readonly string[]> =>
  ((await log.list(asker, query)).body as DeliveryList).data.map(({ eventId }) => eventId).sort();

it('a list names payment, amount and URL by one statement, and leaves out what is not known any more', async () => {
  await keep();
  await deliver('paid', 'reversed');
  await log.apply(packRecord(delivered({}, { tenantId, eventId: 'gone', ref: OTHER_REF })));
  const statements: unknown[] = [];
  log.onCommand(({ command }) => 'find' in command && statements.push(command['find']));
  const { data } = (await log.list(tenantId)).body as DeliveryList;
  expect(statements).toEqual(['deliveries', 'events']);
  const shown = data.map(({ eventId, endpointUrl, endToEndId, txId, amount }) => [
    ...[eventId, endpointUrl, endToEndId, txId, amount],
  ]);
  const { endpointUrl } = WEBHOOK;
  expect(shown.sort()).toEqual([
    ['gone', undefined, undefined, undefined, undefined],
    ['paid', endpointUrl, E2E, TX, '110.00'],
    ['reversed', endpointUrl, E2E, undefined, '10.00'],
  ]);
  const { deliveryId } = baseOf({ tenantId, eventId: 'paid' });
  expect((await log.get(tenantId, deliveryId)).body).toMatchObject({
    endpointUrl,
    txId: TX,
    amount: '110.00',
  });
});

describe('the deliveries of a payment', () => {
  it.each([
    [`endToEndId=${E2E}`, ['paid', 'reversed']],
    [`txId=${TX}`, ['paid', 'reversed']],
    [`txId=${OTHER_TX}`, ['other']],
    [`txId=${TX}&endToEndId=${E2E}`, ['paid', 'reversed']],
    [`txId=${TX}&endToEndId=${OTHER_E2E}`, []],
    [`txId=${TX}&eventId=reversed`, ['reversed']],
    [`txId=${TX}&eventId=other`, []],
    [`endToEndId=${E2E}&status=delivered&limit=1`, ['reversed']],
    [`endToEndId=${E2E}&status=dead`, []],
  ])('are those of the events that name it: %s', async (query, expected) => {
    await keep();
    await deliver('paid');
    await deliver('other', 'none');
    await log.apply(packRecord(delivered({ at: baseOf().at + 1 }, { tenantId, eventId: 'reversed' })));
    expect(await eventsOf(query)).toEqual(expected);
    expect(await eventsOf(query, randomName('tenant'))).toEqual([]);
  });

  it('are found for one Pix of a charge that has more events than are read, and refused for that charge', async () => {
    await keep();
    const many = Array.from({ length: MAX_EVENTS + 1 }, (_, at) =>
      paid({ endToEndId: `E${String(at).padStart(31, '0')}` }, { tenantId, id: `evt_${at}` }),
    );
    await storeEvents(log.runQuery, many.map((event) => eventRecord(event))); // prettier-ignore
    const last = `evt_${MAX_EVENTS}`;
    await deliver(last);
    expect(await eventsOf(`txId=${TX}&endToEndId=E${String(MAX_EVENTS).padStart(31, '0')}`)).toEqual([last]);
    await expect(log.list(tenantId, `txId=${TX}`)).rejects.toMatchObject({
      violations: [{ property: 'txId' }],
    });
  });

  it('are found when its event, or its delivery, is projected while the caller waits', async () => {
    meanwhile = keep;
    await deliver('paid');
    expect(await eventsOf(`endToEndId=${E2E}`)).toEqual(['paid']);
    meanwhile = () => deliver('other');
    expect(await eventsOf(`txId=${OTHER_TX}`)).toEqual(['other']);
    expect(await eventsOf(`txId=${OTHER_TX}`)).toEqual(['other']);
    expect(waits).toEqual([true, true]);
  });
});

describe.each([
  ['the deliveries of a Pix', () => log.list(tenantId, `endToEndId=${E2E}`), true],
  ['the deliveries of a charge', () => log.list(tenantId, `txId=${TX}`), true],
  ['the deliveries of an event', () => log.list(tenantId, 'eventId=paid'), false],
  ['a delivery', () => log.get(tenantId, baseOf({ tenantId, eventId: 'paid' }).deliveryId), false],
] as const)('%s', (_what, ask, withEvents) => {
  it.each(['late', 'full'] as const)(
    'cannot be known to be absent before all is projected: %s',
    async (end) => {
      result = end;
      await expect(ask()).rejects.toMatchObject({ code: 'unavailable', headers: { 'retry-after': '1' } });
      expect(waits).toEqual([withEvents]);
    },
  );

  it('is shown at once when it is known', async () => {
    result = 'late';
    await keep();
    await deliver('paid');
    expect(await ask()).toMatchObject({ status: 200 });
    expect(waits).toEqual([]);
  });
});

it('a list that names no event does not wait for the projection', async () => {
  result = 'late';
  expect(await eventsOf('status=dead')).toEqual([]);
  expect(waits).toEqual([]);
});
