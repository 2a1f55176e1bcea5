import { buildEvent } from '@webhooks/testkit';
import type { Hook } from '../src/hooks.js';
import { planHooks } from '../src/hooks.js';
import { Ledger } from '../src/ledger.js';
import type { Receipt } from '../src/receipts.js';

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

describe('the ledger', () => {
  const first = event();
  const hooks = planHooks([first]);
  const [plain, refusing] = hooks.map(({ path }) => path) as [string, string];

  it('balances when every pair got its 2xx', () => {
    const ledger = new Ledger(hooks);
    ledger.expect(first);
    ledger.note(receipt(first.id, plain));
    expect(ledger.totals()).toEqual({ accepted: 2, delivered: 1, duplicates: 0, lost: 1 });
    ledger.note(receipt(first.id, refusing, { status: 503 }));
    expect(ledger.totals()).toEqual({ accepted: 2, delivered: 1, duplicates: 0, lost: 1 });
    ledger.note(receipt(first.id, refusing, { receivedAt: 6_000 }));
    expect(ledger.totals()).toEqual({ accepted: 2, delivered: 2, duplicates: 0, lost: 0 });
    expect(ledger.accounts.map(({ retryWaits }) => retryWaits)).toEqual([[], [5_000]]);
  });

  it('expects a pair once, however often the event was accepted, and counts every further 2xx', () => {
    const ledger = new Ledger(hooks);
    ledger.expect(first);
    ledger.expect(first);
    for (let arrival = 0; arrival < 3; arrival += 1) ledger.note(receipt(first.id, plain));
    ledger.note(receipt(first.id, refusing));
    expect(ledger.totals()).toEqual({ accepted: 2, delivered: 2, duplicates: 2, lost: 0 });
  });

  it('says what nobody is told of, and what nothing here is owed', () => {
    const ledger = new Ledger(hooks);
    ledger.expect(event({ tenantId: 'nobody' }));
    expect(ledger.unmatched).toBe(1);
    expect(ledger.note(receipt('evt_stranger', plain))).toBe(false);
    expect(ledger.totals()).toEqual({ accepted: 0, delivered: 0, duplicates: 0, lost: 0 });
  });
});
