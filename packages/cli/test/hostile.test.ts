import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, startEndpoint } from '@webhooks/testkit';
import { emptyHome, run, runProcess, start } from './support/run-webhooks.js';
import type { Environment } from './support/run-webhooks.js';
import { delivery, page, startService, webhook } from './support/service.js';

const HOSTILE = 'https://a\u001b]0;title\u0007\u0008\u009b31m\r\nfake  row\u202e\u2028\u2066';
/** Characters that move the cursor, end a line or turn the direction of the text, but for the ends of our own lines. */
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u2028-\u202e\u2066-\u2069]/;

test('values of the service stay within their cell: no control character, no line of their own', async () => {
  const env = await startService({ 'GET /webhooks': () => [200, { results: 1, data: [webhook(HOSTILE)] }] });
  const { code, out } = await run(['list'], env);
  expect({ code, lines: out.trim().split('\n').length }).toEqual({ code: 0, lines: 2 });
  expect(out).not.toMatch(CONTROL);
  const machine = await run(['list', '--json'], env);
  expect(machine.out).not.toMatch(CONTROL);
  expect(JSON.parse(machine.out)).toMatchObject([{ endpointUrl: HOSTILE }]);
});

test.each(['invalid-request', 'constructor', HOSTILE])(
  'an error of the service with the code %j is printed without its control characters',
  async (code) => {
    const problem = { title: 'Refused', detail: HOSTILE, code };
    const env = await startService({ 'GET /webhooks': () => [400, problem] });
    for (const args of [['list'], ['list', '--json']]) {
      const { err } = await run(args, env);
      expect(err).toContain('Refused: https://a');
      expect(err).not.toMatch(CONTROL);
    }
  },
);

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
  [
    'a refusal, though nothing is signed',
    [{ ...attempt, result: 'failed', status: 401, cause: 'Check its secret.' }],
    /failed: 401 +nothing is signed: webhooks rotate-secret/,
  ],
  ['no attempt in time', [], /no attempt has ended yet +look again: webhooks deliveries show a{52}/],
])('doctor --ref shows what the service says of its test: %s', async (what, attempts, says) => {
  const receiver = await startEndpoint();
  const url = `https://localhost:${receiver.port}/`;
  const { ref } = webhook(url);
  const { deliveryId } = delivery;
  const env = await startService({
    [`GET /webhooks/${ref}`]: () => [200, { ...webhook(url), hasSecret: !what.includes('signed') }],
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

test.each([
  ['is disabled', { enabled: false }, {}, /delivery +fault +the webhook is disabled +webhooks enable /],
  [
    'is paused',
    {},
    { state: 'paused', until: '2026-01-01T00:00:00Z' },
    /delivery +warning +paused after failures/,
  ],
])('doctor --ref sends nothing for a webhook that %s', async (_what, is, health, says) => {
  const own = { ...webhook('https://localhost:1/'), ...is };
  const env = await startService({
    [`GET /webhooks/${own.ref}`]: () => [200, own],
    [`GET /webhooks/${own.ref}/health`]: () => [200, { ref: own.ref, failures: [], ...health }],
  });
  const { out } = await run(['doctor', own.endpointUrl, '--ref', own.ref], env);
  expect(out).toMatch(says);
});

test('doctor --ref sends nothing for a webhook with another address', async () => {
  const { ref, endpointUrl } = webhook('https://a.example.com/');
  const env = await startService({ [`GET /webhooks/${ref}`]: () => [200, webhook(endpointUrl)] });
  const { code, err } = await run(['doctor', 'https://b.example.com/', '--ref', ref], env);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`is at ${endpointUrl}`) as string });
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

/** Lets standard input be taken for a terminal. */
const TERMINAL = `data:text/javascript,${encodeURIComponent(
  'Object.assign(process.stdin, { isTTY: true, setRawMode: () => process.stdin })',
)}`;

test('login asks for the address of query-api where the service has it elsewhere', async () => {
  const refused = () => [403, { code: 'insufficient-scope' }] as const;
  const env = await startService({ 'GET /webhooks': refused, 'POST /events': refused });
  const typed = 'https://query.example.com/integration/v1\r';
  const { code, err } = await runProcess(['login'], { ...env, NODE_OPTIONS: `--import=${TERMINAL}` }, typed);
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('Address of query-api') as string });
  const file = readFileSync(join(env['XDG_CONFIG_HOME'] ?? '', 'webhooks', 'profiles.json'), 'utf8');
  expect(file).toContain('"queryUrl": "https://query.example.com"');
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

test.each([
  ['E12345678202611211403a1b2c3d4e5', 'this has 31'],
  ['E1234\u200b5678202611211403a1b2c3d4e5', 'character 6 of this is U+200B'],
  ['E12345678202611211403a1b2c3d4e5-', 'character 32 of this is U+002D'],
])('find says what is wrong with %s', async (id, says) => {
  const { code, err } = await run(
    ['find', id],
    await startService({
      'GET /webhooks/deliveries': () => [200, { results: 0, data: [] }],
    }),
  );
  expect([code, err]).toEqual([
    4,
    expect.stringContaining(`an endToEndId has 32 letters and digits, ${says}`),
  ]);
});

test('find shows a payment of a static charge that was never sent', async () => {
  const endToEndId = 'E12345678202611211403a1b2c3d4e5f';
  const paid = { eventId: 'evt_1', endToEndId, amount: '1.00', occurredAt: '2026-01-01T00:00:00Z' };
  const env = await startService({
    'GET /webhooks': () => [200, { results: 0, data: [] }],
    'GET /webhooks/deliveries': () => [200, { results: 0, data: [] }],
    'GET /pix/transactions': () => [200, { results: 2, data: [paid, { ...paid, txId: 'table12' }] }],
    'GET /pix/transaction': () => [200, { endToEndId, txId: 'table12', reversals: [], events: ['evt_1'] }],
  });
  const { code, out } = await run(['find', 'table12'], env);
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/PAYMENT\nendToEndId +E123.*\ntxId +table12/) as string,
  });
});
