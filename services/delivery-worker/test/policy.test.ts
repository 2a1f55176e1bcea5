import { randomBytes, randomUUID } from 'node:crypto';
import {
  RETRY_TIERS,
  TOPICS,
  configurationKey,
  isEventType,
  parseKeyring,
  sealPolicySecrets,
  sealSecret,
} from '@webhooks/contracts';
import type { ConfigurationRecord, DeliveryPolicy, PolicySecrets } from '@webhooks/contracts';
import { generateSecret, prepareSecret, signStandardWebhooks } from '@webhooks/outbound';
import { buildEvent, eventually, randomName, sharedAuthority, startEndpoint } from '@webhooks/testkit';
import type { Endpoint, EndpointOptions } from '@webhooks/testkit';
import { WAIT, eventFor, openRig } from './rig.js';
import type { Rig } from './rig.js';
import { KEYRING } from './start-worker.js';
import type { SeenRecord } from './start-worker.js';

let rig: Rig;
let waiting: readonly SeenRecord[];
const endpoints: Endpoint[] = [];

beforeAll(async () => {
  rig = await openRig({ SUCCESS_LOG_SAMPLE: '1' });
  waiting = await rig.bench.follow(...RETRY_TIERS.map(({ topic }) => topic));
});
afterAll(async () => {
  for (const endpoint of endpoints) await endpoint.close();
  await rig.stop();
});

async function start(options: EndpointOptions = {}): Promise<Endpoint> {
  const endpoint = await startEndpoint(options);
  endpoints.push(endpoint);
  return endpoint;
}

interface Terms extends Omit<DeliveryPolicy, 'sealed'> {
  readonly secrets?: PolicySecrets;
}

function policyOf(tenantId: string, ref: string, { secrets, ...terms }: Terms, keys = KEYRING) {
  if (secrets === undefined) return terms;
  const sealed = sealPolicySecrets(parseKeyring(keys), secrets, configurationKey(tenantId, ref));
  return { ...terms, sealed };
}

/** A tenant with one webhook that has this policy. */
function register(
  endpoint: Endpoint,
  terms: Terms,
  { keys, ...over }: Partial<ConfigurationRecord> & { keys?: string } = {},
): Promise<ConfigurationRecord> {
  const [tenantId, ref] = [randomName('tenant'), randomUUID()];
  return rig.register(endpoint, { tenantId, ref, policy: policyOf(tenantId, ref, terms, keys), ...over });
}

const paymentFor = ({ tenantId, eventType }: ConfigurationRecord) =>
  buildEvent({ tenantId, ...(isEventType(eventType) ? { eventType } : {}) });
const STATIC = { eventType: 'PIX_STATIC' } as const;

const clientPair = async (): Promise<{ certificate: string; key: string }> => {
  const { certPem, keyPem } = await (await sharedAuthority()).issue(['the tenant']);
  return { certificate: certPem, key: keyPem };
};

describe('an endpoint with a delivery policy', () => {
  it('that responds after 11 s gets each event once when its time-out is 25 s', async () => {
    const endpoint = await start({ reply: { kind: 'status', status: 200, delayMs: 11_000 } });
    const configuration = await register(endpoint, { timeoutMs: 25_000 });
    await rig.bench.send(eventFor(configuration));
    await rig.untilTimeline(configuration.ref, ['1 200']);
    expect(endpoint.arrivals).toHaveLength(1);
  }, 40_000);

  it('that hangs ends an attempt at its own time-out', async () => {
    const endpoint = await start({ reply: { kind: 'hang' } });
    const configuration = await register(endpoint, { timeoutMs: 1_000, retryDelays: ['1s'] });
    await rig.bench.send(eventFor(configuration));
    await rig.untilTimeline(configuration.ref, ['1 TIMEOUT', '2 TIMEOUT', 'dead attempts-exhausted']);
    const [first, second] = endpoint.arrivals;
    expect((second?.startedAt ?? 0) - (first?.startedAt ?? 0)).toBeLessThan(5_000);
  }, 40_000);

  it('gets no more attempts at once than its policy says', async () => {
    let [now, most] = [0, 0];
    const endpoint = await start({
      reply: async () => {
        most = Math.max(most, (now += 1));
        await new Promise((resolve) => setTimeout(resolve, 30));
        now -= 1;
        return 200;
      },
    });
    const configuration = await register(endpoint, { maxConcurrency: 2 });
    await rig.bench.sendAll(Array.from({ length: 20 }, () => eventFor(configuration)));
    await eventually(() => expect(endpoint.stats().distinctIds).toBe(20), WAIT);
    expect(most).toBe(2);
  });

  it('has its own schedule, which a changed policy changes for what waits', async () => {
    const endpoint = await start({ reply: 500 });
    const configuration = await register(endpoint, { retryDelays: ['1s', '1s', '1s', '1s'] });
    await rig.bench.send(eventFor(configuration));
    await eventually(() => expect(endpoint.arrivals).toHaveLength(1), WAIT);
    await rig.bench.configure({ ...configuration, revision: 2, policy: { retryDelays: ['1s'] } });
    await rig.untilTimeline(configuration.ref, ['1 500', '2 500', 'dead attempts-exhausted']);
  });

  it('gets its own headers with each attempt, and all of ours', async () => {
    const endpoint = await start();
    const headers = { Authorization: 'Bearer of-the-tenant', 'X-Api-Key': 'k', 'User-Agent': 'theirs' };
    const configuration = await register(endpoint, { secrets: { headers } });
    await rig.bench.send(eventFor(configuration));
    await rig.untilTimeline(configuration.ref, ['1 200']);
    expect(endpoint.arrivals[0]?.headers).toMatchObject({
      ...{ authorization: 'Bearer of-the-tenant', 'x-api-key': 'k', 'user-agent': 'webhooks/1' },
      ...{ 'content-type': 'application/json', 'webhook-attempt': '1' },
    });
  });

  it('gets the body of Banco Central, signed as it is sent, even if the policy changed while a delivery waits', async () => {
    const endpoint = await start({ reply: ({ nth }) => (nth === 1 ? 500 : 200) });
    const secret = generateSecret();
    const [tenantId, ref] = [randomName('tenant'), randomUUID()];
    const owner = configurationKey(tenantId, ref);
    const secrets = [{ sealed: sealSecret(parseKeyring(KEYRING), secret, owner) }];
    const configuration = await rig.register(endpoint, { tenantId, ref, secrets, ...STATIC });
    const event = paymentFor(configuration);
    await rig.bench.send(event);
    await eventually(() => expect(endpoint.arrivals).toHaveLength(1), WAIT);
    await rig.bench.configure({ ...configuration, revision: 2, policy: { format: 'bacen' } });
    await rig.untilTimeline(ref, ['1 500', '2 200']);
    const [first, second] = endpoint.arrivals;
    expect(JSON.parse(String(first?.body))).toMatchObject({ id: event.id, data: event.data });
    const { endToEndId, amount, txId } = event.data as { endToEndId: string; amount: string; txId?: string };
    expect(JSON.parse(String(second?.body))).toEqual({
      id: event.id,
      pix: [{ endToEndId, ...(txId && { txid: txId }), valor: amount, horario: event.occurredAt }],
    });
    const { 'webhook-timestamp': seconds, 'webhook-signature': signature } = second?.headers ?? {};
    const signed = { id: event.id, timestampSeconds: Number(seconds), body: second?.body ?? Buffer.of() };
    expect(signature).toBe(signStandardWebhooks({ ...signed, secrets: [prepareSecret(secret)] }));
  });

  it('presents the certificate of the policy to a receiver that demands one', async () => {
    const { caPem } = await sharedAuthority();
    const tls = { ca: caPem, requestCert: true, rejectUnauthorized: true };
    const endpoint = await start({ tls });
    const secrets = { clientCertificate: await clientPair() };
    const [later, sooner] = ['2031-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z'];
    const configuration = await register(endpoint, { certificateNotAfter: later, secrets });
    const first = await register(endpoint, { certificateNotAfter: sooner, secrets });
    const without = await register(endpoint, { retryDelays: ['24h'] });
    for (const one of [configuration, first]) {
      await rig.bench.send(eventFor(one));
      await rig.untilTimeline(one.ref, ['1 200']);
    }
    await rig.bench.send(eventFor(without));
    await rig.untilTimeline(without.ref, ['1 TLS']);
    expect(rig.worker.page('/endpoints')).toMatchObject({
      certificates: [
        { ref: first.ref, tenantId: first.tenantId, notAfter: sooner },
        { ref: configuration.ref, tenantId: configuration.tenantId, notAfter: later },
      ],
    });
    expect(await rig.worker.metrics()).toContain(
      `webhook_endpoint_certificate_expiry_timestamp_seconds ${Date.parse(sooner) / 1_000}`,
    );
  });
});

it('an endpoint loses no attempt while its certificate is renewed under load', async () => {
  const { caPem } = await sharedAuthority();
  const endpoint = await start({ tls: { ca: caPem, requestCert: true, rejectUnauthorized: true } });
  const configuration = await register(endpoint, { secrets: { clientCertificate: await clientPair() } });
  const [rounds, each] = [5, 50];
  for (let round = 1; round <= rounds; round += 1) {
    const sent = rig.bench.sendAll(Array.from({ length: each }, () => eventFor(configuration)));
    const secrets = { clientCertificate: await clientPair() };
    const policy = policyOf(configuration.tenantId, configuration.ref, { secrets });
    await rig.bench.configure({ ...configuration, revision: round + 1, policy });
    await sent;
  }
  await eventually(() => expect(rig.story(configuration.ref)).toHaveLength(rounds * each), WAIT);
  expect(new Set(rig.story(configuration.ref))).toEqual(new Set(['1 200']));
});

describe('a policy that cannot be applied is our own fault, and no attempt is counted:', () => {
  it.each<[string, Terms, Partial<ConfigurationRecord> & { keys?: string }]>([
    [
      'no key opens its headers',
      { secrets: { headers: { 'X-Api-Key': 'k' } } },
      { keys: `other:${randomBytes(32).toString('base64')}` },
    ],
    ['its format cannot tell the event', { format: 'bacen' }, { eventType: 'PIX_OUT' }],
    ['a delay is spelled as nobody knows', { retryDelays: ['a while'] }, {}],
    [
      'its certificate is none',
      { secrets: { clientCertificate: { certificate: 'nothing', key: 'of the kind' } } },
      {},
    ],
  ])('%s', async (_, terms, over) => {
    const endpoint = await start();
    const configuration = await register(endpoint, terms, over);
    await rig.bench.send(paymentFor(configuration));
    await rig.untilTimeline(configuration.ref, ['deferred fault']);
    expect(endpoint.arrivals).toEqual([]);
  });
});

it('sealed values are in no log line, no metric and no record, whatever becomes of a delivery', async () => {
  const value = randomBytes(24).toString('hex');
  const clientCertificate = await clientPair();
  const terms = {
    retryDelays: ['1s'],
    secrets: { headers: { Authorization: `Bearer ${value}` }, clientCertificate },
  };
  const good = await register(await start(), terms);
  const failing = await register(await start({ reply: 500 }), terms);
  const gone = await start();
  await gone.close();
  const unreachable = await register(gone, terms);
  const broken = { ...terms.secrets, headers: { Authorization: `Bearer ${value}\n` } };
  const refused = await register(await start(), { secrets: broken });
  for (const one of [good, failing, unreachable, refused]) await rig.bench.send(eventFor(one));
  await rig.untilTimeline(good.ref, ['1 200']);
  await rig.untilTimeline(failing.ref, ['1 500', '2 500', 'dead attempts-exhausted']);
  await rig.untilTimeline(unreachable.ref, ['1 CONNECT', '2 CONNECT', 'dead attempts-exhausted']);
  await rig.untilTimeline(refused.ref, ['deferred fault']);
  const isTold = ({ ref }: ConfigurationRecord): boolean =>
    rig.worker.lines.some((line) => line.includes(ref));
  expect([good, failing, unreachable, refused].map(isTold)).toEqual([true, true, true, true]);
  const letters = (): number => rig.log.filter(({ topic }) => topic === TOPICS.deadLetters).length;
  await eventually(() => expect(letters()).toBeGreaterThanOrEqual(2), WAIT);
  await eventually(() => expect(waiting.length).toBeGreaterThanOrEqual(3), WAIT);
  const records = [...rig.log, ...waiting].map(
    (one) => `${JSON.stringify(one.headers)} ${String(one.value)}`,
  );
  const told = [...rig.worker.lines, ...records, await rig.worker.metrics()].join('\n');
  const [, keyLine = 'no PEM'] = clientCertificate.key.split('\n');
  for (const secret of [value, keyLine]) expect(told).not.toContain(secret);
});
