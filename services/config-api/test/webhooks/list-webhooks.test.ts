import { randomUUID } from 'node:crypto';
import { createConnection } from 'mongoose';
import { modelOn, toRow } from '../../src/store/database.js';
import { WEBHOOKS } from '../support/caller.js';
import type { Answer, Caller } from '../support/caller.js';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;
const all: Record<string, unknown>[] = [];

const ROWS = [
  { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/1', applicationId: 'shop' },
  {
    eventType: 'PIX_STATIC',
    endpointUrl: 'https://hook.acme.com.br/2',
    applicationId: 'shop',
    enabled: false,
  },
  { eventType: 'PIX_STATIC', endpointUrl: 'https://hook.acme.com.br/3' },
  { eventType: 'PIX_REVERSAL', endpointUrl: 'https://hook.acme.com.br/4', applicationId: 'a&b=c d' },
  { eventType: 'PIX_DYNAMIC_PAID', endpointUrl: 'https://hook.acme.com.br/5', enabled: false },
];

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi();
  acme = await api.tenant();
  for (const row of ROWS) {
    const { createdAt: _c, updatedAt: _u, hasSecret: _h, ...listed } = (await acme.post(row)).body;
    all.push(listed);
  }
});
afterAll(() => api.stop());

const listed = ({ body }: Answer): unknown => body['data'];
const pick = (...indexes: number[]): unknown[] => indexes.map((index) => all[index]);

describe('the list', () => {
  it('holds all configurations of the tenant in the order of their registration, with ref and the four fields', async () => {
    const answer = await acme.list();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: all, results: 5 });
  });

  it('keeps its order when configurations change', async () => {
    await acme.put({ ...ROWS[0], endpointUrl: 'https://hook.acme.com.br/1?changed' });
    await acme.put({ ...ROWS[0], endpointUrl: 'https://hook.acme.com.br/1' });
    expect(listed(await acme.list())).toEqual(all);
  });

  it('is empty for another tenant', async () => {
    expect((await (await api.tenant()).list()).body).toEqual({ data: [], results: 0 });
  });

  it.each([
    [{ eventType: 'PIX_STATIC' }, [1, 2]],
    [{ applicationId: 'shop' }, [0, 1]],
    [{ applicationId: 'a&b=c d' }, [3]],
    [{ applicationId: 'Shop' }, []],
    [{ enabled: 'true' }, [0, 2, 3]],
    [{ enabled: 'false' }, [1, 4]],
    [{ eventType: 'PIX_STATIC', applicationId: 'shop', enabled: 'false' }, [1]],
    [{ eventType: 'PIX_OUT', enabled: 'false' }, []],
  ])('is filtered by %j', async (query, expected) => {
    const answer = await acme.list(query);
    expect(answer.body).toEqual({ data: pick(...expected), results: expected.length });
  });

  it('is filtered by ref', async () => {
    const ref = String(all[3]?.['ref']);
    expect(listed(await acme.list({ ref }))).toEqual(pick(3));
    expect(listed(await acme.list({ ref: ref.toUpperCase() }))).toEqual(pick(3));
    expect(listed(await (await api.tenant()).list({ ref }))).toEqual([]);
  });

  it.each([
    ['an unknown parameter', 'limits=5', 'limits'],
    ['an unknown parameter named as what every object has', 'constructor=1', 'constructor'],
    ['a repeated parameter', 'enabled=true&enabled=true', 'enabled'],
    ['an unknown event type', 'eventType=PIX', 'eventType'],
    ['an event type in lower case', 'eventType=pix_out', 'eventType'],
    ['a state that is no boolean', 'enabled=1', 'enabled'],
    ['a state in upper case', 'enabled=TRUE', 'enabled'],
    ['an empty state', 'enabled=', 'enabled'],
    ['an empty application', 'applicationId=', 'applicationId'],
    ['a long application', `applicationId=${'a'.repeat(129)}`, 'applicationId'],
    ['an application with NUL', 'applicationId=a%00', 'applicationId'],
    ['a ref that is no UUID', 'ref=1', 'ref'],
    ['a limit of zero', 'limit=0', 'limit'],
    ['a limit over 1,000', 'limit=1001', 'limit'],
    ['a limit that is no number', 'limit=ten', 'limit'],
    ['a limit with a sign', 'limit=%2B5', 'limit'],
    ['a limit with a fraction', 'limit=1.5', 'limit'],
    ['a cursor of another kind', 'cursor=42', 'cursor'],
    ['an empty cursor', 'cursor=', 'cursor'],
  ])('is refused with %s', async (_name, query, property) => {
    const answer = await acme.list(query);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'invalid-request', violations: [{ property }] });
  });

  it('names every parameter that is wrong', async () => {
    const { body } = await acme.list('limit=0&enabled=1&x=1');
    expect(body['violations']).toHaveLength(3);
  });
});

describe('pages', () => {
  it('hold every configuration once, and the last has no cursor', async () => {
    const pages: Answer[] = [await acme.list({ limit: '2' })];
    for (let next = pages[0]?.body['nextCursor']; typeof next === 'string';) {
      const page = await acme.list({ limit: '2', cursor: next });
      pages.push(page);
      next = page.body['nextCursor'];
    }
    expect(pages.map(({ body }) => body['results'])).toEqual([2, 2, 1]);
    expect(pages.flatMap(listed)).toEqual(all);
  });

  it('are filtered too', async () => {
    const first = await acme.list({ limit: '1', enabled: 'false' });
    expect(listed(first)).toEqual(pick(1));
    const second = await acme.list({
      limit: '1',
      enabled: 'false',
      cursor: String(first.body['nextCursor']),
    });
    expect(second.body).toEqual({ data: pick(4), results: 1 });
  });

  it('have no cursor when the page is exactly full', async () => {
    expect((await acme.list({ limit: '5' })).body['nextCursor']).toBeUndefined();
  });

  it('are capped at 1,000 without limit', async () => {
    const tenant = await api.tenant();
    const database = await createConnection(api.env['MONGODB_URI'] ?? '').asPromise();
    const now = new Date();
    const rows = Array.from({ length: 1_005 }, (_, index) =>
      toRow({
        ...{ tenantId: tenant.tenantId, ref: randomUUID(), position: index + 1, eventType: 'PIX_OUT' },
        ...{ endpointUrl: 'https://a.b/', normalizedUrl: `https://a.b/${index}`, enabled: true },
        ...{ revision: 1, publishedRevision: 1, createdAt: now, updatedAt: now, secrets: [], policy: {} },
      }),
    );
    await modelOn(database).insertMany(rows);
    await database.close();
    const first = await tenant.list();
    expect(first.body['results']).toBe(1_000);
    const rest = await tenant.list({ cursor: String(first.body['nextCursor']) });
    expect(rest.body).toMatchObject({ results: 5 });
  });
});

describe('one configuration', () => {
  it('is given by its ref', async () => {
    const answer = await acme.get(String(all[0]?.['ref']));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject(all[0] ?? {});
  });

  it('is not found when the ref is unknown, malformed, or of another tenant, with the same words', async () => {
    const beta = await api.tenant();
    const answers = [
      await beta.get(String(all[0]?.['ref'])),
      await beta.get('0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f'),
      await beta.get('nonsense'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ body }) => body['detail'])).size).toBe(1);
  });

  it('is not found under a path that cannot be decoded', async () => {
    const answer = await acme.call({ method: 'GET', path: `${WEBHOOKS}/%zz` });
    expect(answer.status).toBe(404);
  });
});
