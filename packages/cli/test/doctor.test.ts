import { createHmac } from 'node:crypto';
import { verifyNotification } from '@webhooks/client';
import { issueThroughIntermediate, sharedAuthority, startEndpoint, startNameServer } from '@webhooks/testkit';
import type { Arrival, Endpoint, EndpointOptions } from '@webhooks/testkit';
import { emptyHome, run, runProcess } from './support/run-webhooks.js';
import type { Ended, Environment } from './support/run-webhooks.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const HOUR_MS = 3_600_000;

/** A receiver that does everything right. */
function verifying({ headers, body }: Arrival): number {
  try {
    verifyNotification(headers, body, SECRET);
    return 200;
  } catch {
    return 401;
  }
}

/** One that looks at the signature and not at the time. */
function timeless({ headers, body }: Arrival): number {
  const signed = `${headers['webhook-id'] ?? ''}.${headers['webhook-timestamp'] ?? ''}.${body.toString()}`;
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  const wanted = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return headers['webhook-signature'] === wanted ? 200 : 401;
}

const issue = async (
  hosts: readonly string[],
  options?: Parameters<Awaited<ReturnType<typeof sharedAuthority>>['issue']>[1],
): Promise<EndpointOptions> => {
  const { certPem, keyPem } = await (await sharedAuthority()).issue(hosts, options);
  return { certPem, keyPem };
};

const past = {
  notBefore: new Date(Date.now() - 48 * HOUR_MS),
  notAfter: new Date(Date.now() - 24 * HOUR_MS),
};
const OLD_TLS = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
const redirect = { kind: 'status', status: 301, headers: { location: 'https://shop.example.com/' } } as const;
const chain = issueThroughIntermediate('localhost');

interface Row {
  readonly receiver: string;
  readonly options: () => EndpointOptions | Promise<EndpointOptions>;
  /** The check that names it. */
  readonly says: RegExp;
  readonly exit: 0 | 1;
  readonly secret?: string;
  /** The file of the authority that it trusts. */
  readonly trusted?: string;
}

const ROWS: readonly Row[] = [
  {
    receiver: 'that does everything right',
    options: () => ({ reply: verifying }),
    says: /replay check +ok/,
    exit: 0,
  },
  {
    ...{ receiver: 'whose certificate expired', options: () => issue(['localhost'], past) },
    ...{ says: /certificate +fault +expired/, exit: 1 },
  },
  {
    ...{
      receiver: 'with a self-signed certificate',
      options: () => issue(['localhost'], { selfSigned: true }),
    },
    ...{ says: /certificate +fault +self-signed/, exit: 1 },
  },
  {
    ...{ receiver: 'of an authority that is unknown', options: () => ({}), trusted: '' },
    ...{
      says: /certificate +fault .*NODE_EXTRA_CA_CERTS[^]*\nsignature check +skipped[^]*\nreplay check +skipped/,
      exit: 1,
    },
  },
  {
    ...{ receiver: 'with a certificate for another name', options: () => issue(['other.example.com']) },
    ...{ says: /certificate +fault +wrong name/, exit: 1 },
  },
  {
    ...{
      receiver: 'that leaves out its intermediate',
      says: /certificate +fault +incomplete chain/,
      exit: 1,
    },
    options: async () => ({ certPem: (await chain).leafPem, keyPem: (await chain).keyPem }),
  },
  {
    ...{ receiver: 'that speaks TLS 1.0', options: () => ({ tls: OLD_TLS }) },
    ...{ says: /TLS version +fault +TLS 1\.0 only/, exit: 1 },
  },
  {
    ...{
      receiver: 'that asks for a client certificate',
      says: /client certificate +fault +required/,
      exit: 1,
    },
    options: async () => ({
      tls: { requestCert: true, rejectUnauthorized: true, ca: (await sharedAuthority()).caPem },
    }),
  },
  {
    ...{ receiver: 'without TLS', options: () => ({ plain: true }) },
    ...{ says: /TLS version +fault +no TLS here/, exit: 1 },
  },
  {
    ...{ receiver: 'that redirects', options: () => ({ reply: redirect }) },
    ...{ says: /response +fault +redirect \(301\) to https:\/\/shop/, exit: 1 },
  },
  {
    ...{ receiver: 'that is slow', says: /response +warning +slow: 200 after 2\d{3} ms/, exit: 0 },
    options: () => ({
      reply: (arrival) => ({
        kind: 'status',
        status: verifying(arrival),
        delayMs: arrival.index === 1 ? 2_100 : 0,
      }),
    }),
  },
  {
    ...{ receiver: 'that never responds', options: () => ({ reply: { kind: 'hang' } }) },
    ...{ says: /response +fault +slow: nothing within 10 s/, exit: 1 },
  },
  { receiver: 'that fails', options: () => ({ reply: 500 }), says: /response +fault +status 500/, exit: 1 },
  {
    receiver: 'at another path',
    options: () => ({ reply: 404 }),
    says: /response +fault +status 404/,
    exit: 1,
  },
  {
    ...{ receiver: 'that takes no POST', options: () => ({ reply: 405 }) },
    ...{ says: /response +fault +status 405 .*to a POST/, exit: 1 },
  },
  {
    ...{ receiver: 'that is too busy to look', options: () => ({ reply: 429 }) },
    ...{ says: /response +fault +status 429/, exit: 1 },
  },
  {
    ...{ receiver: 'whose body breaks off', says: /response +fault +ECONNRESET/, exit: 1 },
    options: () => ({ reply: { kind: 'cut', stage: 'in-body' } }),
  },
  {
    ...{ receiver: 'that speaks HTTP/2 only', options: () => ({ tls: { ALPNProtocols: ['h2'] } }) },
    ...{ says: /HTTP version +fault +no HTTP\/1\.1/, exit: 1 },
  },
  {
    ...{ receiver: 'without a signature check', options: () => ({ reply: 200 }) },
    ...{ says: /signature check +fault +no signature check \(200\)/, exit: 1 },
  },
  {
    receiver: 'that fails where it should refuse',
    options: () => ({ reply: (arrival) => (verifying(arrival) === 401 ? 500 : 200) }),
    ...{ says: /signature check +fault +status 500 +refuse with 401/, exit: 1 },
  },
  {
    ...{ receiver: 'that accepts a replayed notification', options: () => ({ reply: timeless }) },
    ...{ says: /replay check +fault +a replayed notification is accepted \(200\)/, exit: 1 },
  },
  {
    ...{ receiver: 'with another secret', options: () => ({ reply: 401 }) },
    ...{ says: /signature check +fault +a valid signature is refused/, exit: 1 },
  },
  {
    ...{ receiver: 'whose secret is not given', options: () => ({ reply: verifying }), secret: '' },
    ...{
      says: /signature check +warning +refused \(401\) +it may refuse everything.*\nreplay check +skipped/,
      exit: 0,
    },
  },
];

const opened: Endpoint[] = [];
let env: Environment;

beforeAll(async () => {
  env = { ...emptyHome(), NODE_EXTRA_CA_CERTS: (await sharedAuthority()).caFile };
});

afterAll(() => Promise.all(opened.map((endpoint) => endpoint.close())));

async function examine({
  options,
  secret = SECRET,
  receiver,
  trusted: caFile,
}: Row): Promise<Ended & { endpoint: Endpoint }> {
  const endpoint = await startEndpoint(await options());
  opened.push(endpoint);
  const url = `https://localhost:${endpoint.port}/hook`;
  const trusted = receiver.includes('intermediate') ? { NODE_EXTRA_CA_CERTS: (await chain).caFile } : {};
  // An open connection must not keep the program from its end.
  const runIt = receiver === 'that never responds' ? runProcess : run;
  const ended = await runIt(['doctor', url], {
    ...env,
    ...trusted,
    ...(caFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: caFile }),
    ...(secret === '' ? {} : { WEBHOOKS_SECRET: secret }),
  });
  return { ...ended, endpoint };
}

test.each(ROWS)('doctor names a receiver $receiver', async (row) => {
  const { code, out, err, endpoint } = await examine(row);
  expect(out).toMatch(row.says);
  expect({ code, err: row.exit === 0 ? err : '' }).toEqual({ code: row.exit, err: '' });
  if (row.exit === 1) expect(err).toMatch(/\n→ /);
  const ids = endpoint.arrivals.map(({ id }) => id);
  expect(ids.filter((id) => !id.startsWith('evt_test_'))).toEqual([]);
});

test.each([
  ['in quotes', `"${SECRET}"`, { code: 2, out: '' }],
  ['empty', '', { code: 0, out: expect.stringMatching(/replay check +skipped +use --secret/) as string }],
])('doctor signs with no secret that is %s', async (_what, secret, says) => {
  const endpoint = await startEndpoint({ reply: verifying });
  opened.push(endpoint);
  const given = { ...env, WEBHOOKS_SECRET: secret };
  expect(await run(['doctor', `https://localhost:${endpoint.port}/hook`], given)).toMatchObject(says);
});

test.each([
  [
    'a private address',
    '10.1.2.3',
    /DNS +ok +10\.1\.2\.3 .*\naddress rules +fault +private address: 10\.1\.2\.3 \(private\)/,
  ],
  ['the metadata service of a cloud', '169.254.169.254', /address rules +fault +private address.*linkLocal/],
  ['no address', { rcode: 'nxdomain' }, /DNS +fault +unknown host/],
  ['a name server that fails', { rcode: 'servfail' }, /DNS +fault +the name server fails: ESERVFAIL/],
] as const)('doctor names a host with %s, and sends nothing', async (_what, reply, says) => {
  const names = await startNameServer((_name, type) =>
    typeof reply === 'string' ? { rcode: 'ok', addresses: type === 'A' ? [reply] : [] } : reply,
  );
  const { code, out } = await run(
    ['doctor', 'https://shop.example.com/hook', '--name-server', names.address],
    env,
  );
  names.socket.close();
  expect(out).toMatch(says);
  expect(code).toBe(1);
});

test.each([
  ['http://shop.example.com', /address +fault +not https/],
  ['https://192.168.0.1/hook', /address +fault +an IP address/],
  ['https://[::1]/hook', /address +fault +an IP address/],
  ['https://me:secret@shop.example.com/', /address +fault +user or fragment/],
  ['https://shop/hook', /address +fault +a host without a dot/],
  ['https://localhost:1/hook', /connection +fault +ECONNREFUSED \(CONNECT\)/],
])('doctor says what is wrong with %s', async (url, says) => {
  const { code, out } = await run(['doctor', url], env);
  expect(out).toMatch(says);
  expect(code).toBe(1);
});

test('doctor --json gives the checks, and the first fault as an error', async () => {
  const { code, out, err } = await runProcess(['doctor', 'https://localhost:1/hook', '--json'], env);
  expect(code).toBe(1);
  const { checks, url } = JSON.parse(out) as { url: string; checks: { check: string; state: string }[] };
  expect(url).toBe('https://localhost:1/hook');
  expect(checks.map(({ check, state }) => [check, state])).toEqual([
    ['address', 'warning'],
    ['connection', 'fault'],
    ['signature check', 'skipped'],
    ['replay check', 'skipped'],
  ]);
  expect(JSON.parse(err)).toMatchObject({ error: { code: 'unfit-receiver' } });
});
