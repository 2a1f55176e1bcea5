import { getEventListeners } from 'node:events';
import { jest } from '@jest/globals';
import { ConnectionError, ProblemError, createClient } from '../../src/index.js';
import type { Client } from '../../src/index.js';
import { LIST, ScriptedService } from '../support/scripted-service.js';

let service: ScriptedService;
let url: string;

beforeEach(async () => {
  service = await ScriptedService.open();
  ({ url } = service);
});
afterEach(() => service.close());

const client = (over: Partial<Parameters<typeof createClient>[0]> = {}): Client =>
  createClient({
    baseUrl: url,
    credentials: { tokenEndpoint: `${url}/token`, clientId: 'a', clientSecret: 'b' },
    ...over,
  });
const countOf = (start: string): number =>
  service.requests.filter(({ line }) => line.startsWith(start)).length;
const msOf = async (work: Promise<unknown>): Promise<number> => {
  const begin = performance.now();
  await work;
  return performance.now() - begin;
};

describe('a token', () => {
  afterEach(() => jest.useRealTimers());

  it.each([
    ['600 s', 600, 600],
    ['600 s, which the issuer sends as text', '600', 600],
    ['an unknown time, which counts as 60 s', undefined, 60],
    ['a time that is none, which counts as 60 s', 'soon', 60],
  ])('that lives for %s is renewed when a tenth of that is left', async (_, expiresIn, livesS) => {
    const doNotFake = [
      ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
      ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
    ];
    const now = Date.now();
    jest.useFakeTimers({ now, doNotFake });
    service.tokenResponse = { status: 200, body: { access_token: 't', expires_in: expiresIn } };
    const own = client();
    await own.token();
    jest.setSystemTime(now + livesS * 899);
    await own.token();
    expect(countOf('POST /token')).toBe(1);
    jest.setSystemTime(now + livesS * 901);
    await own.token();
    expect(countOf('POST /token')).toBe(2);
  });
});

describe('a call', () => {
  it.each([
    ['seconds', () => '1', 990],
    ['a date, whose seconds are whole', () => new Date(Date.now() + 2_000).toUTCString(), 990],
    ['a date that is over', () => 'Wed, 25 Nov 2020 12:00:00 GMT', 95],
  ])('waits as long as Retry-After says: %s', async (_, after, leastMs) => {
    service.script = [{ status: 503, headers: { 'retry-after': after() } }];
    const waitedMs = await msOf(client().list());
    expect(waitedMs).toBeGreaterThan(leastMs);
    expect(waitedMs).toBeLessThan(5_000);
  });

  it.each([
    ['a minute, by default', '61', {}],
    ['the caller lets it', '1', { maxWaitMs: 900 }],
    ['the caller lets it, as a date', 'Fri, 31 Dec 9999 23:59:59 GMT', { maxWaitMs: 900 }],
  ])('ends at once when Retry-After says more than %s', async (_, after, over) => {
    service.script = [{ status: 503, headers: { 'retry-after': after } }];
    await expect(client(over).list()).rejects.toThrow(ProblemError);
    expect(countOf('GET ')).toBe(1);
  });

  it('refuses a body over 16 MiB', async () => {
    const body = JSON.stringify({ ...LIST, more: ' '.repeat(16 * 1_048_576) });
    service.script = [{ status: 200, body }];
    await expect(client({ maxRetries: 0 }).list()).rejects.toThrow(ConnectionError);
  });

  it('leaves no listener at its signal and no timer', async () => {
    const own = client({ timeoutMs: 100_000 });
    const { signal } = new AbortController();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    for (let count = 0; count < 10; count += 1) await own.list({}, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(timers() - before).toBeLessThan(5);
  });

  it('that only counts a redelivery says so', async () => {
    service.script = [{ status: 200, body: { matched: 7 } }];
    expect(await client().countRedelivery({ from: 'x' })).toEqual({ matched: 7 });
    expect(JSON.parse(service.requests.at(-1)?.body ?? '')).toEqual({ from: 'x', dryRun: true });
  });

  it('passes on only well-formed violations of a problem', async () => {
    const violation = { property: 'from', reason: 'is no time' };
    service.script = [{ status: 400, body: { violations: [null, 'from', violation, {}] } }];
    const error: unknown = await client()
      .list()
      .catch((fault: unknown) => fault);
    expect(error instanceof ProblemError && error.problem.violations).toEqual([violation]);
  });
});
