import type { ApiReply, ApiRequest } from '@webhooks/http-api';
import { createTransactionOperations } from '../../src/payments/compose.js';
import type { Transaction } from '../../src/payments/merge-events.js';
import { viewCharge, viewTransaction } from '../../src/payments/view-transaction.js';
import type { CatchUpResult } from '../../src/projection/catch-up.js';
import { E2E, merge, paid, reversal, TX } from './support/events.js';

interface Asked {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly tenantId?: string;
}

const requestOf = ({ params = {}, query = '', tenantId = 'acme' }: Asked): ApiRequest => ({
  identity: { clientId: 'client', tenantId, scopes: new Set() },
  requestId: 'request',
  params,
  query: new URLSearchParams(query),
  header: () => undefined,
  body: Buffer.alloc(0),
  isOver: () => false,
});

const KNOWN = merge([paid()]);
const REVERSED_FIRST = merge([reversal({ txId: TX })]);

const render = (found: Transaction | undefined, view: (found: Transaction) => unknown): Buffer | undefined =>
  found && Buffer.from(JSON.stringify(view(found)));

/** A service in which the events come to be known while somebody waits, and a diary of what it was asked. */
function openDesk(options: {
  readonly known?: Transaction | undefined;
  readonly result?: CatchUpResult;
  readonly arriving?: Transaction;
}) {
  const { known, result = 'passed', arriving } = options;
  const diary: string[] = [];
  let now = known;
  const look = (tenantId: string): Transaction | undefined => {
    diary.push('look');
    return tenantId === 'acme' ? now : undefined;
  };
  const [cob, transaction] = createTransactionOperations({
    readTransaction: (tenantId) => Promise.resolve(render(look(tenantId), viewTransaction)),
    readCharge: (tenantId, txId) =>
      Promise.resolve(render(look(tenantId), (found) => viewCharge(txId, [found]))),
    waitForEvents: () => {
      diary.push('wait');
      now = arriving ?? now;
      return Promise.resolve(result);
    },
  });
  if (!cob || !transaction) throw new Error('expected two operations');
  return { cob, transaction, diary };
}

type Desk = ReturnType<typeof openDesk>;
type RunQuery = (desk: Desk, tenantId?: string) => Promise<ApiReply>;

async function parsed(reply: Promise<ApiReply>): Promise<ApiReply> {
  const { status, body } = await reply;
  return { status, body: JSON.parse(String(body)) as unknown };
}

const CALLS: readonly (readonly [string, RunQuery, unknown])[] = [
  [
    'cob',
    ({ cob }, tenantId = 'acme') => parsed(cob.handle(requestOf({ params: { txId: TX }, tenantId }))),
    { txId: TX, status: 'CONCLUIDA' },
  ],
  [
    'transaction',
    ({ transaction }, tenantId = 'acme') =>
      parsed(transaction.handle(requestOf({ query: `endToEndId=${E2E}`, tenantId }))),
    { endToEndId: E2E, amount: '110.00' },
  ],
];

describe.each(CALLS)('%s', (_name, ask, answer) => {
  it.each(['passed', 'late', 'full'] as const)('responds with a known payment (%s)', async (result) => {
    const desk = openDesk({ known: KNOWN, result });
    expect(await ask(desk)).toEqual({
      status: 200,
      body: expect.objectContaining(answer as object) as unknown,
    });
  });

  it.each([undefined, REVERSED_FIRST])(
    'looks once, after it waited for what was on the topic',
    async (known) => {
      const desk = openDesk({ known, arriving: merge([paid(), reversal({ txId: TX })]) });
      const { status, body } = await ask(desk);
      expect({ status, body }).toMatchObject({ status: 200, body: answer });
      expect(JSON.stringify(body)).toContain('"reversals":[{');
      expect(desk.diary).toEqual(['wait', 'look']);
    },
  );

  it.each(['passed', 'late', 'full'] as const)(
    'answers a reversal alone when no payment came (%s)',
    async (result) => {
      const { status, body } = await ask(openDesk({ known: REVERSED_FIRST, result }));
      expect(status).toBe(200);
      expect(body).not.toHaveProperty('amount');
    },
  );

  it('is 404 only after everything was read, even for payments of another tenant', async () => {
    for (const [desk, tenantId] of [
      [openDesk({}), 'acme'],
      [openDesk({ known: KNOWN }), 'beta'],
    ] as const) {
      await expect(ask(desk, tenantId)).rejects.toMatchObject({
        code: 'not-found',
        message: expect.stringMatching(/^no event reported a/) as unknown,
      });
      expect(desk.diary).toEqual(['wait', 'look']);
    }
  });

  it.each(['late', 'full'] as const)(
    'is 503 with Retry-After when it cannot be known (%s)',
    async (result) => {
      await expect(ask(openDesk({ result }))).rejects.toMatchObject({
        code: 'unavailable',
        headers: { 'retry-after': '1' },
      });
    },
  );
});

it.each([
  ['a txId of 25 characters', { txId: 'a'.repeat(25) }],
  ['a txId of 36 characters', { txId: 'a'.repeat(36) }],
  ['a sign', { txId: `${'a'.repeat(26)}-` }],
  ['a line feed', { txId: `${TX}\n` }],
  ['a letter that is not ASCII', { txId: `${'a'.repeat(26)}ã` }],
])('cob refuses %s with 422, and looks for nothing', async (_what, params) => {
  const desk = openDesk({ known: KNOWN });
  await expect(desk.cob.handle(requestOf({ params }))).rejects.toMatchObject({
    code: 'invalid-request',
  });
  expect(desk.diary).toEqual([]);
});

it.each([
  ['no parameter', '', 'endToEndId', 'is required'],
  ['an empty one', 'endToEndId=', 'endToEndId', 'must be 32 letters and digits'],
  ['31 characters', `endToEndId=${'E'.repeat(31)}`, 'endToEndId', 'must be 32 letters and digits'],
  ['33 characters', `endToEndId=${'E'.repeat(33)}`, 'endToEndId', 'must be 32 letters and digits'],
  ['a repeated one', `endToEndId=${E2E}&endToEndId=${E2E}`, 'endToEndId', 'must appear once'],
  ['an unknown one', `endToEndId=${E2E}&txId=${TX}`, 'txId', 'is not a known parameter'],
  ['another case', `endtoendid=${E2E}`, 'endtoendid', 'is not a known parameter'],
])('transaction refuses %s with 422, and looks for nothing', async (_what, query, property, reason) => {
  const desk = openDesk({ known: KNOWN });
  await expect(desk.transaction.handle(requestOf({ query }))).rejects.toMatchObject({
    code: 'invalid-request',
    violations: [{ property, reason }],
  });
  expect(desk.diary).toEqual([]);
});

it('each query needs its own scope', () => {
  const { cob, transaction } = openDesk({});
  expect([cob.scopes, transaction.scopes]).toEqual([['cob.read'], ['pix.read']]);
});
