import type { Operation } from '../src/index.js';
import { openServedApi } from './support/served-api.js';
import type { ServedApi } from './support/served-api.js';
import { TokenDesk } from './support/token-desk.js';

const OPERATIONS: readonly Operation[] = [
  { method: 'GET', path: '/things', scopes: ['thing.read'], handle: () => Promise.resolve({ status: 200 }) },
];

let desk: TokenDesk;
let api: ServedApi;
beforeAll(async () => {
  desk = await TokenDesk.open();
  api = await openServedApi(desk, OPERATIONS, {});
});
afterAll(async () => {
  await api.close();
  await desk.close();
});

const call = async (path: string): Promise<Response> =>
  fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${await desk.token()}` } });

describe('a refused request', () => {
  it.each(['/nothing', '/things?unknown=1'])(
    'without a body leaves its connection open: %s',
    async (path) => {
      const { status, headers } = await call(path);
      expect(status).toBeGreaterThan(400);
      expect(headers.get('connection')).toBe('keep-alive');
    },
  );

  it('with thousands of parameters is told of the first twenty', async () => {
    const query = Array.from({ length: 2_000 }, (_, index) => `n${index}`).join('&');
    const response = await call(`/things?${query}`);
    expect(response.status).toBe(422);
    expect(((await response.json()) as { violations: readonly unknown[] }).violations).toHaveLength(20);
  });
});
