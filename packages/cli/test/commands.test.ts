import { writeFileSync } from 'node:fs';
import { createClient } from '@webhooks/client';
import { eventually, startEndpoint } from '@webhooks/testkit';
import { makeEvent } from '../src/events.js';
import { makeDelivery, runJson, startCliStack } from './support/cli-stack.js';
import type { CliStack, Made } from './support/cli-stack.js';
import { run, runProcess } from './support/run-webhooks.js';

let cli: CliStack;
let made: Made;
const json = (...args: string[]): Promise<Record<string, unknown>> => runJson(cli, args);

beforeAll(async () => {
  cli = await startCliStack();
  made = await makeDelivery(cli);
});

/** The endToEndId of a new event. */
async function triggered(eventType: string): Promise<string> {
  const { out } = await run(['trigger', eventType, '--json'], cli.env);
  const [event] = JSON.parse(out) as { data: { endToEndId: string } }[];
  return event?.data.endToEndId ?? '';
}

/** The ref of a new webhook that every service knows. */
async function registered(eventType: string, url: string): Promise<string> {
  const { ref } = await json('create', '--event-type', eventType, '--endpoint-url', url);
  await eventually(() => json('show', String(ref)), { timeoutMs: 30_000 });
  return String(ref);
}

afterAll(async () => {
  await cli.stop();
});

let missed: string;

test('find names a webhook that was registered after the payment, and the command that sends it', async () => {
  missed = await triggered('PIX_STATIC');
  const ref = await registered('PIX_STATIC', cli.endpoint.url);
  const { out } = await run(['find', missed], cli.env);
  const [, advice = ''] =
    /^PIX_STATIC of R\$1\.00: .* registered at .*\n→ webhooks (send .*)\n/.exec(out) ?? [];
  expect(advice).toMatch(new RegExp(`^send evt_\\w+ --ref ${ref}$`));
  expect((await run(advice.split(' '), cli.env)).code).toBe(0);
  const found = async (): Promise<boolean> =>
    /^PIX_STATIC of R\$1\.00: delivered/.test((await run(['find', missed], cli.env)).out);
  expect(await eventually(found, { timeoutMs: 30_000, intervalMs: 300 })).toBe(true);
});

test.each(['LC_ALL', 'LC_MESSAGES', 'LANG'])('find speaks Portuguese with %s=pt_BR.UTF-8', async (name) => {
  const { out } = await run(['find', missed], { ...cli.env, LANG: '', [name]: 'pt_BR.UTF-8' });
  expect(out).toMatch(/^PIX_STATIC de R\$\s1,00: entregue/);
});

test('a client without the scope ends with 3 and says whom to ask', async () => {
  const { clientId, clientSecret } =
    cli.stack.description().clients.find(({ scopes }) => scopes.includes('event.write.any')) ?? {};
  const env = { ...cli.env, WEBHOOKS_CLIENT_ID: clientId ?? '', WEBHOOKS_CLIENT_SECRET: clientSecret ?? '' };
  const { code, err } = await run(['list'], env);
  expect(code).toBe(3);
  expect(err).toContain('ask the operator for the scope');
});

test('find says why nothing was sent, and what to do', async () => {
  const { out, code } = await run(['find', await triggered('PIX_REVERSAL')], cli.env);
  expect(code).toBe(0);
  expect(out).toMatch(
    /PIX_REVERSAL of R\$1\.00: not sent\. No webhook receives this type\. .*\n→ webhooks create --event-type PIX_REVERSAL/,
  );
});

test('find names a webhook that was disabled then, beside one that was not, and in JSON too', async () => {
  const args = ['--event-type', 'PIX_OUT', '--endpoint-url', cli.endpoint.url, '--no-enabled'];
  const { ref } = await json('create', ...args);
  const other = await registered('PIX_OUT', `${cli.endpoint.url}?other`);
  const id = await triggered('PIX_OUT');
  const { out } = await run(['find', id], cli.env);
  expect(out).toMatch(/The webhook was disabled when the event came/);
  expect(out).toContain(`→ webhooks enable ${String(ref)} && webhooks send evt_`);
  await json('enable', String(ref));
  // By now the other one may have it.
  expect((await json('find', id))['verdicts']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: expect.stringMatching(/^(delivered|waiting)$/) as string, ref: other }),
      expect.objectContaining({
        ...{ kind: 'disabled-then', ref },
        text: { pt: expect.any(String) as string, en: expect.any(String) as string },
        command: expect.stringMatching(new RegExp(`^webhooks send evt_\\w+ --ref ${String(ref)}$`)) as string,
      }),
    ]) as object,
  );
});

test('find shows each reversal, and verdicts on top', async () => {
  const { out } = await run(['trigger', 'PIX_STATIC', '--scenario', 'late-reversal', '--json'], cli.env);
  const [event] = JSON.parse(out) as { data: { endToEndId: string } }[];
  const found = await run(['find', ` ${event?.data.endToEndId ?? ''}`], cli.env);
  expect(found.out).toMatch(/^PIX_STATIC of .*\nPIX_REVERSAL of .*\n→ .*\n\nPAYMENT\n/);
  expect(found.out).toMatch(/REVERSALS\n.*settledAt\n\w{32} +DEVOLVIDO +1\.00 +– +20\S+\d\d:\d\d\n/);
});

test('payments list finds a payment by time and amount, as they are typed', async () => {
  const { out: posted } = await run(['trigger', 'PIX_STATIC', '--amount', '87.30', '--json'], cli.env);
  const [event] = JSON.parse(posted) as { id: string; data: { endToEndId: string } }[];
  const { endToEndId } = event?.data ?? { endToEndId: '' };
  const list = () => run(['payments', 'list', '--from', '00:00', '--amount', 'R$ 87,30'], cli.env);
  await eventually(async () => (await list()).out.includes(endToEndId), { timeoutMs: 30_000 });
  const { out, err } = await list();
  expect(out).toMatch(/^occurredAt +amount +endToEndId.*\n\d{4}-\d\d-\d\dT\S+ +87\.30 +E\w{31} /);
  expect(out.trim().split('\n')).toHaveLength(2);
  expect(err).toMatch(/^from \S+T00:00:00\S+ \(.*\)\nNext: webhooks find E\w{31}\n$/);
  const cut = await run(['payments', 'list', '--limit', '1'], cli.env);
  expect(cut.err).toMatch(/\nThere may be more than 1: --limit\n$/);
});

test('changes shows who disabled a webhook, which needs no answer without a terminal', async () => {
  const ref = await registered('PIX_OUT', `${cli.endpoint.url}?switched`);
  expect((await run(['disable', ref], cli.env)).code).toBe(0);
  const { out } = await run(['changes', ref], cli.env);
  expect(out).toMatch(
    /^at +client +person +action +changed\n\S+ +acme-app +– +update +enabled: true → false\n/,
  );
});

test('an alert endpoint is registered, listed and ended', async () => {
  const { ref } = await json(
    'alerts',
    'create',
    '--endpoint-url',
    `${cli.endpoint.url}/alerts`,
    '--format',
    'text',
  );
  const listed = async () => (await run(['alerts', 'list'], cli.env)).out;
  expect(await listed()).toMatch(new RegExp(`\n${String(ref)} +https://\\S+/alerts +text +pt-BR +false\n`));
  expect(await json('alerts', 'delete', String(ref))).toEqual({ ref, ended: true });
  expect(await listed()).toBe('no alert endpoint\n');
});

const head = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, 'content-length: 0'].join('\r\n');
/** What Node's client refuses, and deliveries do not. */
const IRREGULAR: readonly (readonly [what: string, bytes: string])[] = [
  ['bare line feeds', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'],
  ['a folded header', `${head('x-a: 1', ' 2')}\r\n\r\n`],
  ['two lengths', `${head('content-length: 2')}\r\n\r\n`],
];

test.each(IRREGULAR)('doctor --ref says that a 200 with %s is a delivery', async (what, bytes) => {
  const { certPem, keyPem } = await cli.stack.authority.issue(['localhost']);
  const receiver = await startEndpoint({ certPem, keyPem, reply: { kind: 'raw', bytes, then: 'end' } });
  const url = `${receiver.url}?${encodeURIComponent(what)}`;
  const env = { ...cli.env, NODE_EXTRA_CA_CERTS: cli.stack.description().tls.caFile };
  const alone = await run(['doctor', url], env);
  const ref = await registered('PIX_OUT', url);
  const { code, out } = await run(['doctor', url, '--ref', ref], env);
  await json('disable', ref);
  await receiver.close();
  expect({ code: alone.code, out: alone.out }).toEqual({
    code: 1,
    out: expect.stringMatching(/response +fault +HPE_/) as string,
  });
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(
      /\ndelivery +ok +delivered: 200 .*\nresponse +warning +HPE_\S+ \(SOCKET\); the service delivers all/s,
    ) as string,
  });
});

test('trigger says why an event was not accepted', async () => {
  const { err } = await run(['trigger', 'PIX_OUT', '--amount', '9999999999999'], cli.env);
  expect(err).toMatch(/not all were accepted: \S*amount /);
});

test('find takes a delivery id, an event id and a txId', async () => {
  const { payment } = (await json('find', made.endToEndId)) as { payment: { txId: string } };
  for (const id of [made.deliveryId, made.eventId, payment.txId]) {
    const { deliveries } = (await json('find', id)) as { deliveries: { eventId: string }[] };
    expect(deliveries[0]?.eventId).toBe(made.eventId);
  }
});

test('find takes an event id that looks like a txId, and of a test notification names no other webhook', async () => {
  const { configApi, ingest, queryApi, tokenEndpoint } = cli.stack.description();
  const { clientId, clientSecret } = cli.stack.clientOf('acme');
  const credentials = { tokenEndpoint, clientId, clientSecret };
  const urls = { baseUrl: configApi, ingestUrl: ingest, queryUrl: queryApi ?? '' };
  const client = createClient({ ...urls, credentials });

  await client.postEvent({ id: 'order1', ...makeEvent('PIX_DYNAMIC_PAID', '1.00') });
  const isFound = async (): Promise<boolean> => (await run(['find', 'order1'], cli.env)).code === 0;
  expect(await eventually(isFound, { timeoutMs: 30_000, intervalMs: 300 })).toBe(true);

  const ref = await registered('PIX_DYNAMIC_PAID', `${cli.endpoint.url}?another`);
  const { eventId } = await client.sendTest(made.ref);
  const arrived = await eventually(() => cli.endpoint.arrivals.find(({ id }) => id === eventId) ?? false);
  const { data } = JSON.parse(arrived.body.toString()) as { data: { endToEndId: string } };
  const { verdicts } = (await json('find', data.endToEndId)) as {
    verdicts: { kind: string; ref?: string }[];
  };
  expect(verdicts[0]).toMatchObject({ kind: 'test' });
  expect(verdicts.flatMap((one) => one.ref ?? []).filter((one) => one !== made.ref)).toEqual([]);
  await json('disable', ref);
});

test.each([
  ['duplicate', ['PIX_DYNAMIC_PAID', 'PIX_DYNAMIC_PAID']],
  ['out-of-order', ['PIX_REVERSAL', 'PIX_DYNAMIC_PAID']],
  ['late-reversal', ['PIX_DYNAMIC_PAID', 'PIX_REVERSAL']],
  ['burst', Array.from({ length: 100 }, () => 'PIX_DYNAMIC_PAID')],
])('trigger --scenario %s posts what a receiver must cope with', async (scenario, types) => {
  const { out } = await run(['trigger', 'PIX_DYNAMIC_PAID', '--scenario', scenario, '--json'], cli.env);
  const events = JSON.parse(out) as { id: string; eventType: string; status: string }[];
  expect(events.map(({ eventType }) => eventType)).toEqual(types);
  expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['accepted']));
  expect(new Set(events.map(({ id }) => id)).size).toBe(scenario === 'duplicate' ? 1 : types.length);
});

test('apply changes what differs, and leaves alone what is as it is declared', async () => {
  const yaml = [{ ref: made.ref.toUpperCase(), enabled: false }, { ref: made.ref }].map(
    ({ ref, enabled }) => {
      const switched = enabled === undefined ? '' : `    enabled: ${enabled}\n`;
      return `webhooks:\n  - ref: ${ref}\n    eventType: PIX_DYNAMIC_PAID\n    endpointUrl: ${cli.endpoint.url}?v=2\n${switched}`;
    },
  );
  const file = `${made.file}.changed`;
  for (const [index, changes] of [['update'], ['unchanged']].entries()) {
    writeFileSync(file, yaml[index] ?? '');
    const { out } = await run(['apply', '-f', file, '--yes', '--json'], cli.env);
    const rows = JSON.parse(out) as { change: string }[];
    expect(rows.map(({ change }) => change).filter((change) => change !== 'undeclared')).toEqual(changes);
  }
  expect(await json('show', made.ref)).toMatchObject({
    enabled: false,
    endpointUrl: `${cli.endpoint.url}?v=2`,
  });
  await json('update', made.ref, '--endpoint-url', cli.endpoint.url);
  await json('enable', made.ref);
});

test('apply names what a file may not have', async () => {
  writeFileSync(
    `${made.file}.typo`,
    `webhooks:\n  - eventType: PIX_OUT\n    endpoint: ${cli.endpoint.url}\n`,
  );
  const { code, err } = await run(['apply', '-f', `${made.file}.typo`], cli.env);
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/:2: endpoint is unknown; an entry may have ref, eventType/),
  ]);
});

test('apply shows what would change and changes nothing without --yes', async () => {
  writeFileSync(
    `${made.file}.new`,
    `webhooks:\n  - eventType: PIX_REVERSAL\n    endpointUrl: ${cli.endpoint.url}\n`,
  );
  const { code, out, err } = await run(['apply', '-f', `${made.file}.new`], cli.env);
  expect(code).toBe(2);
  expect(out).toMatch(/create +(–|\S+) +PIX_REVERSAL/);
  expect(err).toContain('use --yes');
  expect(JSON.stringify(await json('list'))).not.toContain('PIX_REVERSAL');
});

test('policy and rotate-secret take secrets from files or standard input, and show none again', async () => {
  const { certFile, keyFile } = await cli.stack.authority.issue(['acme']);
  const pair = ['--certificate', certFile, '--key', keyFile];
  expect(await json('policy', made.ref, '-f', made.policy, ...pair)).toMatchObject({
    timeoutMs: 20_000,
    headers: { 'X-Key': { endsWith: 'cdef' } },
    clientCertificate: { serial: expect.stringMatching(/^[0-9A-F]+$/) as string },
  });
  const { out } = await runProcess(['policy', made.ref, '-f', '-'], cli.env, 'maxConcurrency: 2');
  expect(out).toMatch(/^maxConcurrency +2\nsubject .*\nserial .*\nnotAfter .*\n\nheader .*\nX-Key +cdef\n$/);
  expect(await run(['policy', made.ref], cli.env)).toMatchObject({ out, code: 0 });
  expect((await run(['policy', made.ref, '--remove'], cli.env)).out).toBe('the defaults\n');
  await runProcess(['policy', made.ref, '-f', '-'], cli.env, 'maxConcurrency: 2');
  expect(await json('policy', made.ref, ...pair)).toMatchObject({ maxConcurrency: 2, clientCertificate: {} });
  expect((await run(['policy', made.ref, ...pair.slice(0, 2)], cli.env)).code).toBe(2);
  for (const text of ['', 'no policy']) {
    const { code, err } = await runProcess(['policy', made.ref, '-f', '-'], cli.env, text);
    expect([code, err]).toEqual([2, expect.stringContaining('expected a policy')]);
  }
  const broken = await runProcess(
    ['policy', made.ref, '-f', '-'],
    cli.env,
    'headers: { X-Key: "0123456789abcdef }',
  );
  expect([broken.code, broken.err]).toEqual([2, expect.not.stringContaining('0123456789')]);
  const secret = `whsec_${Buffer.alloc(24, 's').toString('base64')}`;
  const rotated = await runProcess(
    ['rotate-secret', made.ref, '--secret-file', '-', '--json'],
    cli.env,
    `${secret}\n`,
  );
  expect(JSON.parse(rotated.out)).toMatchObject({ ref: made.ref, secret });
});
