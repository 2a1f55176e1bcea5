import { jest } from '@jest/globals';
import { request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Browser } from './support/browser.js';
import { startConsole } from './support/start-console.js';

const WEBHOOKS = '/integration/v1/webhooks';

describe('the console', () => {
  let running: Awaited<ReturnType<typeof startConsole>>;
  beforeAll(async () => {
    running = await startConsole();
  });
  afterAll(() => running.stop());
  const last = () => running.received.at(-1);

  it('signs a person in and returns to the page that was asked for', async () => {
    const { browser, end } = await running.signIn('ana', '/webhooks/6f1f?tab=secret');
    expect(end).toBe(`${running.origin}/webhooks/6f1f?tab=secret`);
    const session = await running.call(browser, '/session');
    expect(await session.json()).toMatchObject({ personId: 'ana', tenantId: 'acme', isOperator: false });
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example/', 'javascript:alert(1)', '/a\nb'])(
    'returns to its own first page instead of %j',
    async (path) => {
      const { end } = await running.signIn('ana', path);
      expect(end).toBe(`${running.origin}/`);
    },
  );

  it('sets a cookie for its host alone that scripts cannot read', async () => {
    const { browser, url } = await begin();
    const callback = await browser.send(await callbackOf(browser, url));
    const cookie = callback.headers.getSetCookie().find((one) => one.startsWith('__Host-console='));
    expect(cookie).toMatch(/^__Host-console=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  });

  it('passes a call on with the access token, and neither cookie nor other headers', async () => {
    const { browser } = await running.signIn('ana');
    const headers = {
      tenantid: 'globex',
      'x-forwarded-for': '10.0.0.1',
    };
    const response = await running.call(browser, `${WEBHOOKS}?limit=2`, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(last()).toMatchObject({ method: 'GET', url: `${WEBHOOKS}?limit=2` });
    expect(last()?.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    expect(last()?.headers.authorization).toMatch(/^Bearer ey/);
    for (const name of ['cookie', 'tenantid', 'x-forwarded-for'])
      expect(last()?.headers).not.toHaveProperty([name]);
  });

  it('changes nothing for a page that shows the tenant of another person', async () => {
    const { browser } = await running.signIn('ana');
    const before = running.received.length;
    const headers = { authorization: 'Bearer console:globex' };
    const { status } = await running.call(browser, WEBHOOKS, { headers });
    expect([status, running.received.length]).toEqual([403, before]);
  });

  it('lets an operator read the tenant that he names, and change nothing', async () => {
    const { browser } = await running.signIn('olga');
    const read = await running.call(browser, WEBHOOKS, { headers: { authorization: 'Bearer console:acme' } });
    expect(read.status).toBe(200);
    expect(last()?.headers['tenantid']).toBe('acme');
    const before = running.received.length;
    const change = await running.call(browser, WEBHOOKS, {
      method: 'PUT',
      headers: { authorization: 'Bearer console:acme' },
      body: '{}',
    });
    expect([change.status, running.received.length]).toEqual([403, before]);
  });

  it.each([
    ['POST', '/integration/v1/events'],
    ['GET', '/integration/v1/notifications'],
    ['DELETE', '/integration/v1/tenants/acme/data'],
    ['PATCH', WEBHOOKS],
  ])('passes no %s %s on', async (method, path) => {
    const { browser } = await running.signIn('ana');
    const before = running.received.length;
    const response = await running.call(browser, path, {
      method,
      ...(method === 'GET' ? {} : { body: '{}' }),
    });
    expect([response.status, running.received.length]).toEqual([404, before]);
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site', authorization: 'Bearer console' }],
    ['a form of another site', { 'sec-fetch-site': 'cross-site' }],
    ['an old browser', { authorization: 'Bearer console' }],
    ['a form of its own', { 'sec-fetch-site': 'same-origin' }],
    [
      'a token of its own',
      { 'sec-fetch-site': 'same-origin', authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' },
    ],
  ])('refuses a call of %s', async (_caller, headers) => {
    const { browser } = await running.signIn('ana');
    const before = running.received.length;
    const url = `${running.origin}/api${WEBHOOKS}/6f1f/test`;
    const response = await browser.send(url, { method: 'POST', headers: headers as Record<string, string> });
    expect([response.status, running.received.length]).toEqual([403, before]);
  });

  it('ends the session with the sign-out, so that its cookie is useless', async () => {
    const { browser } = await running.signIn('ana');
    const stolen = browser.cookies('localhost').get('__Host-console') ?? '';
    const url = `${running.origin}/auth/sign-out`;
    const ofOthers = await browser.send(url, { headers: { 'sec-fetch-site': 'cross-site' } });
    expect([ofOthers.status, browser.cookies('localhost').has('__Host-console')]).toEqual([403, true]);
    const response = await browser.send(url, { headers: { 'sec-fetch-site': 'same-origin' } });
    expect(response.headers.get('location')).toMatch(`${running.issuer}/session/end?id_token_hint=`);
    expect(browser.cookies('localhost').has('__Host-console')).toBe(false);
    browser.cookies('localhost').set('__Host-console', stolen);
    expect((await running.call(browser, WEBHOOKS)).status).toBe(401);
  });

  it.each([
    ['30 min without a call', 30, 30],
    ['8 h, however often it is used', 29, 480],
  ])('ends a session after %s', async (_time, stepMinutes, endMinutes) => {
    const { browser } = await running.signIn('ana');
    const began = Date.now();
    const doNotFake = ['nextTick', 'setImmediate', 'setInterval', 'setTimeout', 'performance'] as const;
    jest.useFakeTimers({ now: began, doNotFake: [...doNotFake] });
    const statuses: number[] = [];
    for (let minutes = 0; minutes < endMinutes;) {
      minutes = Math.min(minutes + stepMinutes, endMinutes);
      jest.setSystemTime(began + minutes * 60_000);
      statuses.push((await running.call(browser, WEBHOOKS)).status);
    }
    jest.useRealTimers();
    expect(statuses.slice(0, -1).filter((status) => status !== 200)).toEqual([]);
    expect(statuses.at(-1)).toBe(401);
  });

  /** Sends a request whose target is exactly this text. */
  const sendRaw = async (path: string, headers: Record<string, string>) => {
    const { hostname, port, host } = new URL(running.origin);
    const sent = request({ hostname, port, path, headers: { host, ...headers } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response;
  };

  it.each([
    ['http://evil.example/api/integration/v1/webhooks', 200],
    ['/api//evil.example/integration/v1/webhooks', 404],
    ['/api/\\evil.example/integration/v1/webhooks', 404],
    ['/api/integration/v1/webhooks/../events', 404],
    ['/api/integration/v1/webhooks/a%2F..%2Fevents', 404],
    ['/api/integration/v1/webhooks%00', 404],
  ])('sends a token to its services alone, whatever the target: %s', async (path, status) => {
    const { browser } = await running.signIn('ana');
    const cookie = `__Host-console=${browser.cookies('localhost').get('__Host-console') ?? ''}`;
    const before = running.received.length;
    const page = { authorization: 'Bearer console:acme', 'sec-fetch-site': 'same-origin' };
    const { statusCode } = await sendRaw(path, { cookie, ...page });
    expect([statusCode, running.received.length]).toEqual([status, status === 200 ? before + 1 : before]);
  });

  it.each(['pix/cob', 'webhooks/deliveries'])('logs a fault without an id: %s', async (path) => {
    // A console of its own: one logs the second fault only after ten seconds.
    const own = await startConsole();
    const { browser } = await own.signIn('ana');
    own.failWith(401);
    const id = 'a1b2c3d4e5f6a1b2c3d4e5f6a1';
    const response = await own.call(browser, `/integration/v1/${path}/${id}`);
    await own.stop();
    expect(response.status).toBe(503);
    expect(JSON.stringify(own.lines)).toContain(`"/api/integration/v1/${path}/:id"`);
    expect(JSON.stringify(own.lines)).not.toContain(id);
  });

  it('refuses a body that no page sends', async () => {
    const { browser } = await running.signIn('ana');
    const body = 'x'.repeat(65_537);
    const { status } = await running.call(browser, `${WEBHOOKS}/6f1f/test`, { method: 'POST', body });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  it('signs a tab in although another tab began to sign in after it', async () => {
    const { browser, url } = await begin();
    await browser.open(`${running.origin}/auth/sign-in`);
    expect((await browser.send(await callbackOf(browser, url))).status).toBe(303);
  });

  it('refuses a forged Host', async () => {
    const response = await sendRaw('/auth/sign-in', { host: 'evil.example' });
    expect([response.statusCode, response.headers.location]).toEqual([421, undefined]);
  });

  const begin = async () => {
    const browser = new Browser();
    const { url } = await browser.open(`${running.origin}/auth/sign-in`);
    return { browser, url };
  };

  /** Signs in at the issuer, and returns the address that its response leads to, unopened. */
  async function callbackOf(browser: Browser, page: string): Promise<string> {
    let at = `${page}?person=ana`;
    while (!at.startsWith(running.origin)) {
      const response = await browser.send(at);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${at} responds ${response.status} and leads nowhere`);
      at = new URL(location, at).href;
    }
    return at;
  }

  it('refuses a stolen state: a callback of another browser', async () => {
    const { browser, url } = await begin();
    const callback = await callbackOf(browser, url);
    const { browser: victim } = await begin();
    const response = await victim.send(callback);
    expect(response.status).toBe(401);
    expect(victim.cookies('localhost').has('__Host-console')).toBe(false);
  });

  /** The cookie of the sign-in under way. */
  const pendingOf = (browser: Browser) =>
    [...browser.cookies('localhost')].find(([name]) => name.startsWith('__Host-sign-in-')) ??
    (['', ''] as const);

  it('refuses a replayed code', async () => {
    const { browser, url } = await begin();
    const pending = pendingOf(browser);
    const callback = await callbackOf(browser, url);
    expect((await browser.send(callback)).status).toBe(303);
    browser.cookies('localhost').clear();
    browser.cookies('localhost').set(...pending);
    expect((await browser.send(callback)).status).toBe(401);
    expect(browser.cookies('localhost').has('__Host-console')).toBe(false);
  });
});

describe('a token of the console', () => {
  it('is renewed once for however many calls', async () => {
    const running = await startConsole();
    const { browser } = await running.signIn('ana');
    const tokens = async () => {
      const before = running.received.length;
      await Promise.all(Array.from({ length: 10 }, () => running.call(browser, WEBHOOKS)));
      return [...new Set(running.received.slice(before).map(({ headers }) => headers.authorization))];
    };
    const first = await tokens();
    const doNotFake = ['nextTick', 'setImmediate', 'setInterval', 'setTimeout', 'performance'] as const;
    jest.useFakeTimers({ now: Date.now() + 580_000, doNotFake: [...doNotFake] });
    const second = await tokens();
    jest.useRealTimers();
    expect([first.length, second.length]).toEqual([1, 1]);
    expect(second).not.toEqual(first);
    await running.stop();
  });

  it('is renewed before the rights of a call are checked', async () => {
    const ana = { sub: 'ana', name: 'Ana', tenantId: 'acme', scopes: ['webhook.read'] };
    const running = await startConsole({ tokenSeconds: 29, people: [ana] });
    const { browser } = await running.signIn('ana');
    ana.tenantId = 'globex';
    expect((await running.call(browser, WEBHOOKS)).status).toBe(403);
    expect(running.received).toEqual([]);
    await running.stop();
  });

  it('that the issuer renews no more ends the session', async () => {
    const running = await startConsole({ tokenSeconds: 29 });
    const { browser } = await running.signIn('ana');
    await running.forgetPeople();
    expect((await running.call(browser, WEBHOOKS)).status).toBe(401);
    expect(browser.cookies('localhost').has('__Host-console')).toBe(false);
    await running.stop();
  });

  it('that is not for the services begins no session', async () => {
    const running = await startConsole({ audience: 'another-api' });
    const { browser, response } = await running.signIn('ana');
    expect(response.status).toBe(401);
    expect(browser.cookies('localhost').has('__Host-console')).toBe(false);
    await running.stop();
  });

  it('is 503 while the issuer is away, and the session stays', async () => {
    const running = await startConsole({ tokenSeconds: 29 });
    const { browser } = await running.signIn('ana');
    await running.stopIssuer();
    expect((await running.call(browser, WEBHOOKS)).status).toBe(503);
    expect(browser.cookies('localhost').has('__Host-console')).toBe(true);
    await running.stop();
  });
});
