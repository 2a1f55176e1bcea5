import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { eventually, startEndpoint } from '@webhooks/testkit';
import { emptyHome, run, runProcess, start } from './support/run-webhooks.js';
import type { Environment } from './support/run-webhooks.js';

type Responses = Readonly<Record<string, (nth: number) => readonly [status: number, body: unknown]>>;

/** A token issuer and a service that responds as a test says, by method and path; what is unknown has a 404. */
async function startService(responses: Responses): Promise<Environment> {
  const seen = new Map<string, number>();
  const respond = (response: ServerResponse, [status, body]: readonly [number, unknown]): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    request.resume();
    const route = `${request.method ?? ''} ${request.url?.split('?')[0] ?? ''}`;
    if (route === 'POST /token') return respond(response, [200, { access_token: 'token', expires_in: 60 }]);
    const nth = (seen.get(route) ?? 0) + 1;
    seen.set(route, nth);
    const found = responses[route.replace('/integration/v1', '')];
    respond(response, found?.(nth) ?? [404, { title: 'No such resource', detail: route, code: 'not-found' }]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(server);
  const { port } = server.address() as AddressInfo;
  const env = { ...emptyHome(), WEBHOOKS_URL: `http://127.0.0.1:${port}`, WEBHOOKS_CLIENT_ID: 'shop' };
  return { ...env, WEBHOOKS_TOKEN_ENDPOINT: `${env.WEBHOOKS_URL}/token`, WEBHOOKS_CLIENT_SECRET: 's3cret' };
}

const opened: Server[] = [];
afterAll(() => {
  for (const server of opened) server.close();
});

const webhook = (endpointUrl: string) => ({
  ...{ ref: '00000000-0000-4000-8000-000000000000', eventType: 'PIX_OUT', enabled: true, hasSecret: true },
  ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', endpointUrl },
});
const delivery = {
  ...{ deliveryId: 'a'.repeat(52), ref: '', eventId: 'evt_1', eventType: 'PIX_OUT', status: 'delivered' },
  ...{ cycle: '0', redelivery: false, createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' },
};

const HOSTILE = 'https://a\u001b]0;title\u0007\u0008\u009b31m\r\nfake  row\u202e';
/** Characters that move the cursor, end a line or turn the direction of the text, but for the ends of our own lines. */
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

test('values of the service stay within their cell: no control character, no line of their own', async () => {
  const env = await startService({ 'GET /webhooks': () => [200, { results: 1, data: [webhook(HOSTILE)] }] });
  const { code, out } = await run(['list'], env);
  expect({ code, lines: out.trim().split('\n').length }).toEqual({ code: 0, lines: 2 });
  expect(out).not.toMatch(CONTROL);
});

test('an error of the service is printed without its control characters', async () => {
  const problem = { title: 'Refused', detail: HOSTILE, code: 'invalid-request' };
  const env = await startService({ 'GET /webhooks': () => [400, problem] });
  const { code, err } = await run(['list'], env);
  expect(code).toBe(2);
  expect(err).not.toMatch(CONTROL);
});

test('find says that there are more deliveries than it shows', async () => {
  const env = await startService({
    'GET /webhooks': () => [200, { results: 0, data: [] }],
    'GET /webhooks/deliveries': () => [200, { results: 1, data: [delivery], nextCursor: 'next' }],
    [`GET /webhooks/deliveries/${delivery.deliveryId}`]: () => [200, { ...delivery, attempts: [] }],
  });
  expect((await run(['find', 'evt_1'], env)).out).toContain('there are more: webhooks deliveries list');
  expect(JSON.parse((await run(['find', 'evt_1', '--json'], env)).out)).toMatchObject({ truncated: true });
});

const attempt = { attempt: 1, cycle: '0', redelivery: false, at: '2026-01-01T00:00:00Z', durationMs: 9 };
const refused = { result: 'failed', error: 'TLS', code: 'CERT_HAS_EXPIRED', cause: 'Renew it.' };

test.each([
  ['a failure without a response', [{ ...attempt, ...refused }], /failed: TLS CERT_HAS_EXPIRED +Renew it\./],
  [
    'a status that is none of success',
    [{ ...attempt, result: 'failed', status: 410, cause: 'Gone.' }],
    /failed: 410 +Gone\./,
  ],
  ['no attempt in time', [], /no attempt has ended yet +look again: webhooks deliveries show a{52}/],
])('doctor --ref shows what the service says of its test: %s', async (_what, attempts, says) => {
  const receiver = await startEndpoint();
  const url = `https://localhost:${receiver.port}/`;
  const { ref } = webhook(url);
  const { deliveryId } = delivery;
  const env = await startService({
    [`GET /webhooks/${ref}`]: () => [200, webhook(url)],
    [`GET /webhooks/${ref}/policy`]: () => [200, { timeoutMs: 1 }],
    [`POST /webhooks/${ref}/test`]: () => [202, { deliveryId, eventId: 'evt_test_1' }],
    [`GET /webhooks/deliveries/${deliveryId}`]: (nth) =>
      nth === 1 ? [404, { code: 'not-found' }] : [200, { ...delivery, status: 'pending', attempts }],
  });
  const { code, out } = await run(['doctor', url, '--ref', ref], env);
  await receiver.close();
  // The certificate is one of an authority that is unknown here.
  expect({ code, out }).toEqual({ code: 1, out: expect.stringMatching(says) as string });
  expect(out).toMatch(attempts.length === 0 ? /\ndelivery +warning/ : /\ndelivery +fault/);
});

test('doctor --ref sends nothing for a webhook with another address', async () => {
  const { ref, endpointUrl } = webhook('https://a.example.com/');
  const env = await startService({ [`GET /webhooks/${ref}`]: () => [200, webhook(endpointUrl)] });
  const { code, err } = await run(['doctor', 'https://b.example.com/', '--ref', ref], env);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`is at ${endpointUrl}`) as string });
});

const page = (id: string) => ({
  results: 1,
  data: [{ id, eventType: 'PIX_OUT', body: '{}' }],
  ...{ nextCursor: id, hasMore: false },
});

test('listen goes on after a 429', async () => {
  const env = await startService({
    'GET /notifications': (nth) =>
      nth > 1 && nth < 5 ? [429, { code: 'too-many-requests' }] : [200, page(`evt_${nth}`)],
  });
  const { code, out } = await runProcess(['listen', '--count', '1'], env);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('PIX_OUT evt_5') as string });
});

test('listen survives a receiver that upgrades the connection, and one that breaks its body off', async () => {
  const env = await startService({ 'GET /notifications': (nth) => [200, page(`evt_${nth}`)] });
  const upgrade = 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
  const answers = [
    { kind: 'raw', bytes: upgrade },
    { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc', then: 'end' },
  ] as const;
  const local = await startEndpoint({ plain: true, reply: ({ index }) => answers[index - 1] ?? 200 });
  const { code, out } = await runProcess(
    ['listen', '--forward', local.url.replace('http:', 'HTTP:'), '--count', '3'],
    env,
  );
  await local.close();
  expect(code).toBe(0);
  expect(out.match(/→ \w+/g)).toEqual(['→ failed', '→ failed', '→ delivered']);
});

test('listen ends when nobody reads its output any more', async () => {
  const env = await startService({ 'GET /notifications': (nth) => [200, page(`evt_${nth}`)] });
  const listening = start(['listen'], env);
  await eventually(() => listening.said.out.includes('evt_'), { timeoutMs: 10_000 });
  listening.child.stdout?.destroy();
  const { code, err } = await listening.ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

test('a command whose output nobody reads does its work, and says nothing of it', async () => {
  const env = await startService({
    'GET /webhooks': () => [200, { results: 1, data: [webhook('https://a.example.com/')] }],
  });
  const listing = start(['list'], env);
  listing.child.stdout?.destroy();
  const { code, err } = await listing.ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

const declared = (...entries: readonly object[]): string => {
  const file = join(emptyHome()['XDG_CONFIG_HOME'] ?? '', 'webhooks.yaml');
  writeFileSync(file, JSON.stringify({ webhooks: entries }));
  return file;
};
const entry = (endpointUrl: string) => ({ eventType: 'PIX_OUT', endpointUrl });

test('apply that is refused in the middle says what was done, and which one was refused', async () => {
  const refused = { title: 'Refused', detail: 'not this one', code: 'invalid-endpoint-url' };
  const env = await startService({
    'GET /webhooks': () => [200, { results: 0, data: [] }],
    'POST /webhooks': (nth) => (nth === 2 ? [422, refused] : [200, webhook('https://a.example.com/')]),
  });
  const urls = ['https://a.example.com/', 'https://b.example.com/', 'https://c.example.com/'];
  const { code, err } = await run(['apply', '--yes', '-f', declared(...urls.map(entry))], env);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/1 of 3 changes made; https:\/\/b\.example\.com\/: .*not this/),
  ]);
});

test.each([
  ['the same place twice', [entry('https://A.example.com'), entry('https://a.example.com/')], /twice/],
  [
    'the same ref twice',
    [
      { ...entry('https://a.example.com/'), ref: 'A' },
      { ...entry('https://b.example.com/'), ref: 'a' },
    ],
    /twice/,
  ],
  ['a ref that is a number', [{ ...entry('https://a.example.com/'), ref: 5 }], /needs a list "webhooks"/],
])('apply refuses a file with %s', async (_what, entries, says) => {
  const { code, err } = await run(['apply', '--yes', '-f', declared(...entries)], emptyHome());
  expect([code, err]).toEqual([2, expect.stringMatching(says)]);
});

test.each([
  [['deliveries', 'list', '--limit', 'abc'], /limit is empty, or no whole number from 1/],
  [['deliveries', 'list', '--limit', '0'], /limit is empty, or no whole number/],
  [['listen', '--repeat', '1.5'], /repeat is empty, or no whole number/],
  [['listen', '--count=-1'], /count is empty, or no whole number/],
  [['show', ''], /ref is empty/],
  [['deliveries', 'list', '--from', 'last 5'], /last 5 is no time/],
])('webhooks %j is a mistake of usage, and nothing is requested', async (args, says) => {
  const { code, out, err } = await run(args, emptyHome());
  expect([code, out, err]).toEqual([2, '', expect.stringMatching(says)]);
});

test('credentials of the environment are not sent without TLS to another machine', async () => {
  const env = await startService({});
  const { code, err } = await run(['list'], { ...env, WEBHOOKS_TOKEN_ENDPOINT: 'http://issuer.example.com' });
  expect([code, err]).toEqual([2, expect.stringContaining('tokenEndpoint must begin with https:')]);
});

test('an empty variable is one that is not set', async () => {
  const env = await startService({ 'GET /webhooks': () => [200, { results: 0, data: [] }] });
  const home = emptyHome()['XDG_CONFIG_HOME'] ?? '';
  const place: Environment = { XDG_CONFIG_HOME: '', HOME: home };
  expect((await run(['login'], { ...env, ...place })).code).toBe(0);
  expect(statSync(join(home, '.config', 'webhooks', 'profiles.json')).mode & 0o777).toBe(0o600);
  expect(await run(['list'], { ...place, WEBHOOKS_CLIENT_ID: '', WEBHOOKS_PROFILE: '' })).toMatchObject({
    code: 0,
  });
});

test('login replaces a file of profiles that holds nothing, and takes over the mode of no file', async () => {
  const env = await startService({});
  const folder = join(env['XDG_CONFIG_HOME'] ?? '', 'webhooks');
  mkdirSync(folder);
  for (const name of ['profiles.json', 'profiles.json.new'])
    writeFileSync(join(folder, name), 'null', { mode: 0o644 });
  expect((await run(['login'], env)).code).toBe(0);
  expect(statSync(join(folder, 'profiles.json')).mode & 0o777).toBe(0o600);
});
