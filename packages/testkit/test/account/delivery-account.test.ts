import { buildEvent } from '../../src/build-event.js';
import { planHooks } from '../../src/account/register-webhooks.js';
import type { Hook } from '../../src/account/register-webhooks.js';
import { DeliveryAccount } from '../../src/account/delivery-account.js';
import type { Acceptance, Receipt } from '../../src/account/delivery-account.js';

const event = (over: Parameters<typeof buildEvent>[0] = {}) =>
  buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT', ...over });
const receipt = (id: string, path: string, over: Partial<Receipt> = {}): Receipt => ({
  id,
  path,
  status: 200,
  receivedAt: 1_000,
  ...over,
});

describe('the hooks of some events', () => {
  it('are one for each tenant and type, and one that refuses, for the rarest', () => {
    const hooks = planHooks([event(), event(), event({ tenantId: 'globex' })]);
    expect(hooks.map(({ path }) => path)).toEqual([
      '/hooks/globex/PIX_OUT',
      '/hooks/acme/PIX_OUT',
      '/refuses-first/globex/PIX_OUT',
    ]);
  });

  it('have the same UUID at every start', () => {
    const refs = (): string[] => planHooks([event()]).map(({ ref }: Hook) => ref);
    expect(refs()).toEqual(refs());
    for (const ref of refs()) expect(ref).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
});

describe('the delivery account', () => {
  const first = event();
  const hooks = planHooks([first]);
  const [plain, refusing] = hooks.map(({ path }) => path) as [string, string];

  it('balances when every pair got its 2xx', () => {
    const account = new DeliveryAccount([first], hooks);
    account.note([receipt(first.id, plain)]);
    expect(account.totals()).toMatchObject({ accepted: 2, delivered: 1, duplicates: 0, refused: 0 });
    account.note([receipt(first.id, refusing, { status: 503 })]);
    expect(account.totals()).toMatchObject({ accepted: 2, delivered: 1, duplicates: 0, refused: 1 });
    account.note([receipt(first.id, refusing, { receivedAt: 6_000 })]);
    expect(account.totals()).toMatchObject({ accepted: 2, delivered: 2, duplicates: 0, refused: 1 });
    expect(account.accounts.map(({ retryWaits }) => retryWaits)).toEqual([[], [5_000]]);
  });

  it('owes a pair once, however often the event was accepted, and counts every further 2xx', () => {
    const account = new DeliveryAccount([first, first], hooks);
    for (let arrival = 0; arrival < 3; arrival += 1) account.note([receipt(first.id, plain)]);
    account.note([receipt(first.id, refusing)]);
    expect(account.totals()).toMatchObject({ accepted: 2, delivered: 2, duplicates: 2 });
  });

  it('counts events that no endpoint is owed, and arrivals that were not owed', () => {
    const account = new DeliveryAccount([event({ tenantId: 'nobody' })], hooks);
    expect(account.unmatched).toBe(1);
    account.note([receipt('evt_stranger', plain)]);
    expect(account.totals()).toMatchObject({ accepted: 0, delivered: 0, duplicates: 0, strangers: 1 });
  });

  it('owes an endpoint only events of its type, and knows events of two tenants with one id apart', () => {
    const [hook] = hooks.slice(0, 1);
    const other = { ...first, tenantId: 'globex', eventType: 'PIX_STATIC' as const };
    const endpoints = [...(hook ? [hook] : []), { path: '/other', tenantId: 'globex' }];
    const account = new DeliveryAccount(
      [first, { ...other }, { id: first.id, tenantId: 'globex' }],
      endpoints,
    );
    account.note([receipt(first.id, plain), receipt(first.id, '/other')]);
    expect(account.totals()).toMatchObject({ accepted: 2, delivered: 2, strangers: 0 });
    expect(account.unmatched).toBe(1);
  });
});

describe('the delivery account of a run with one type of events', () => {
  const accepted = (id: string, tenantId = 'acme'): Acceptance => ({
    ...{ id, tenantId },
    ...{ dueAt: 1_000, acknowledgedAt: 1_500 },
  });
  const arrival = (id: string, path: string, status = 200, receivedAt = 2_000) =>
    receipt(id, path, { status, receivedAt });
  const ENDPOINTS = [
    { path: '/a', tenantId: 'acme' },
    { path: '/b', tenantId: 'acme' },
    { path: '/other', tenantId: 'globex' },
  ];

  it('owes each event to each endpoint of its tenant and balances when all of them got it', () => {
    const account = new DeliveryAccount([accepted('1'), accepted('2', 'globex')], ENDPOINTS);
    account.note([arrival('1', '/a'), arrival('1', '/b'), arrival('2', '/other')]);
    expect(account.totals()).toEqual({ accepted: 3, delivered: 3, duplicates: 0, refused: 0, strangers: 0 });
    expect(account.totals()).toMatchObject({ strangers: 0 });
    expect(account.missing(() => true)).toBe(0);
  });

  it('misses what one endpoint did not get, however often another one did', () => {
    const account = new DeliveryAccount([accepted('1')], ENDPOINTS);
    account.note([arrival('1', '/a'), arrival('1', '/a')]);
    expect(account.totals()).toMatchObject({ accepted: 2, delivered: 1, duplicates: 1 });
    expect(account.missing(() => true)).toBe(1);
  });

  it('does not take a response that is no 2xx for a delivery', () => {
    const account = new DeliveryAccount([accepted('1', 'globex')], ENDPOINTS);
    account.note([arrival('1', '/other', 500)]);
    account.note([arrival('1', '/other', 0)]);
    expect(account.totals()).toMatchObject({ accepted: 1, delivered: 0, refused: 2 });
    account.note([arrival('1', '/other', 204)]);
    expect(account.totals()).toMatchObject({ strangers: 0 });
    expect(account.missing(() => true)).toBe(0);
  });

  it('takes what nobody accepted, and what belongs to another tenant, for a stranger', () => {
    const unknown = new DeliveryAccount([accepted('1', 'globex')], ENDPOINTS);
    unknown.note([arrival('1', '/other')]);
    unknown.note([arrival('9', '/other')]);
    expect(unknown.totals()).toMatchObject({ strangers: 1 });
    const mixed = new DeliveryAccount([accepted('1', 'globex')], ENDPOINTS);
    mixed.note([arrival('1', '/other')]);
    mixed.note([arrival('1', '/a')]);
    expect(mixed.totals()).toMatchObject({ strangers: 1 });
  });

  it('leaves arrivals at the endpoints of other runs alone', () => {
    const account = new DeliveryAccount([accepted('1', 'globex')], ENDPOINTS);
    account.note([arrival('1', '/other')]);
    account.note([arrival('x', '/of-another-run')]);
    expect(account.totals()).toMatchObject({ strangers: 0 });
    expect(account.missing(() => true)).toBe(0);
  });

  it('counts what some endpoints are still owed', () => {
    const account = new DeliveryAccount([accepted('1'), accepted('2'), accepted('3', 'globex')], ENDPOINTS);
    account.note([arrival('1', '/a'), arrival('1', '/b', 500), arrival('3', '/other')]);
    expect(account.missing(() => true)).toBe(3);
    expect(account.missing((path) => path === '/a')).toBe(1);
    expect(account.missing((path) => path === '/other')).toBe(0);
  });

  it('takes latencies of the first delivery, from the acknowledgement or from when the event was due', () => {
    const account = new DeliveryAccount([accepted('1')], ENDPOINTS);
    account.note([arrival('1', '/a', 200, 3_500), arrival('1', '/a', 200, 9_000)]);
    expect(account.latencies('acknowledgedAt')).toEqual([2_000]);
    expect(account.latencies('dueAt')).toEqual([2_500]);
    expect(account.latencies('dueAt', { isPath: (path) => path === '/b' })).toEqual([]);
    expect(account.latencies('dueAt', { due: [1_001, Infinity] })).toEqual([]);
    expect([...account.arrivals()]).toEqual([3_500]);
  });

  it('takes a delivery that overtook its acknowledgement as one that took no time', () => {
    const account = new DeliveryAccount([accepted('1')], ENDPOINTS);
    account.note([arrival('1', '/a', 200, 1_400)]);
    expect(account.latencies('acknowledgedAt')).toEqual([0]);
  });
});
