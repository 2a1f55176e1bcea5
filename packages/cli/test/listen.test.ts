import { verifyNotification } from '@webhooks/client';
import { eventually, startEndpoint } from '@webhooks/testkit';
import type { Arrival, Endpoint } from '@webhooks/testkit';
import { makeDelivery, runJson, startCliStack } from './support/cli-stack.js';
import type { CliStack, Made } from './support/cli-stack.js';
import { run, start } from './support/run-webhooks.js';

let cli: CliStack;
let local: Endpoint;
let made: Made;

beforeAll(async () => {
  cli = await startCliStack();
  local = await startEndpoint({ plain: true });
  made = await makeDelivery(cli);
});

afterAll(async () => {
  await local.close();
  await cli.stop();
});

const verifies = (arrival: Arrival | undefined, secret: string): boolean => {
  const notification = verifyNotification(arrival?.headers ?? {}, arrival?.body ?? '', secret);
  return notification.id === arrival?.id;
};

test('listen forwards the bytes and headers of a delivery, signed with the secret that it prints', async () => {
  await runJson(cli, ['rotate-secret', made.ref]);
  const listening = start(
    ['listen', '--forward', local.url, '--event-type', 'PIX_DYNAMIC_PAID', '--count', '1'],
    cli.env,
  );
  const secret = await eventually(() => /whsec_\S+/.exec(listening.said.out)?.[0] ?? false, {
    timeoutMs: 20_000,
  });
  local.forget();
  cli.endpoint.forget();
  await run(['trigger', 'PIX_DYNAMIC_PAID'], cli.env);
  const { code, out } = await listening.ended;
  expect(code).toBe(0);
  expect(out).toMatch(/PIX_DYNAMIC_PAID evt_\w+ → delivered 200 \(\d+ ms\)\n {2}\{"id":"evt_/);
  const [forwarded] = local.arrivals;
  expect(verifies(forwarded, secret)).toBe(true);
  const delivered = await eventually(
    () => cli.endpoint.arrivals.find(({ id }) => id === forwarded?.id) ?? false,
  );
  expect(forwarded?.body).toEqual(delivered.body);
  const own = ['host', 'connection', 'webhook-timestamp', 'webhook-signature', 'x-webhooks-signature'];
  const common = (arrival: Arrival | undefined): unknown =>
    Object.fromEntries(Object.entries(arrival?.headers ?? {}).filter(([name]) => !own.includes(name)));
  expect(common(forwarded)).toEqual(common(delivered));
  expect(Object.keys(forwarded?.headers ?? {}).sort()).toEqual(Object.keys(delivered.headers).sort());
});

test('listen --json prints a line for each event, and misses none while the service is down', async () => {
  const listening = start(['listen', '--json', '--count', '2'], cli.env);
  await eventually(() => listening.said.out.includes('whsec_'), { timeoutMs: 20_000 });
  await cli.stack.fleet.stop('query-api');
  await run(['trigger', 'PIX_OUT'], cli.env);
  await cli.stack.fleet.start('query-api');
  await run(['trigger', 'PIX_OUT'], cli.env);
  const { out, code } = await listening.ended;
  expect(code).toBe(0);
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id?: string });
  expect(lines.map(({ id }) => id?.slice(0, 4))).toEqual([undefined, 'evt_', 'evt_']);
});

test('listen --repeat forwards an event again, as a repeated delivery with the same id', async () => {
  const args = ['listen', '--forward', local.url, '--count', '1', '--repeat', '2'];
  const listening = start(args, cli.env);
  await eventually(() => listening.said.out.includes('whsec_'), { timeoutMs: 20_000 });
  local.forget();
  await run(['trigger', 'PIX_OUT'], cli.env);
  await listening.ended;
  expect(local.arrivals.map(({ nth, headers }) => [nth, headers['webhook-attempt']])).toEqual([
    [1, '1'],
    [2, '2'],
  ]);
});

test('listen says why a receiver did not get an event', async () => {
  const listening = start(['listen', '--forward', 'http://localhost:1', '--count', '1'], cli.env);
  await eventually(() => listening.said.out.includes('whsec_'), { timeoutMs: 20_000 });
  await run(['trigger', 'PIX_OUT'], cli.env);
  expect((await listening.ended).out).toMatch(/→ failed ECONNREFUSED/);
});

test('Ctrl-C ends listen with 0', async () => {
  const listening = start(['listen'], cli.env);
  await eventually(() => listening.said.out.includes('whsec_'), { timeoutMs: 20_000 });
  listening.child.kill('SIGINT');
  expect((await listening.ended).code).toBe(0);
});
