import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TOPIC_ACCESS, TOPIC_TABLE, TOPICS } from '@webhooks/contracts';
import type { AttemptPack } from '@webhooks/contracts';
import {
  emptyTestEngines,
  openCertificateAuthority,
  startIssuer,
  startSecuredKafka,
  startStack,
} from '@webhooks/local';
import type { CertificateAuthority, Issuer, SecuredKafka, Stack } from '@webhooks/local';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { clientFor, feedTopic, newReport, readFeedLine, registerWebhooks } from '@webhooks/testkit/account';
import kafkajs from 'kafkajs';
import { followTopics } from './follow-topics.js';

const EVENTS = Number(process.env['SECURED_EVENTS'] ?? 5_000);
/** The others are fault cases: `plain`, `scram-sha-256`, `oauthbearer`. */
const MECHANISM = process.env['SECURED_MECHANISM'] ?? 'scram-sha-512';
/** Left out of every run, which has no time for them: `FAULT_CASES=1`. */
const whenRequested = process.env['FAULT_CASES'] === '1' ? it : it.skip;
/** Only these have passwords that can be changed while the broker runs. */
const whenScram = MECHANISM.startsWith('scram') ? whenRequested : it.skip;
const LONG = { timeoutMs: 120_000 };
/** kafkajs authenticates 10 s before the end of a session, here a second after the last time. */
const SESSION_MS = 11_000;
const MAX_GAP_MS = 3_000;

const folder = mkdtempSync(join(tmpdir(), 'secured-stack-'));
const fileOf = (name: string): string => join(folder, name);
let authority: CertificateAuthority;
let issuer: Issuer;
let kafka: SecuredKafka;
let stack: Stack;
let endpoint: Endpoint;
let unfollow: () => Promise<void>;
const failed: string[] = [];

const SERVICES = Object.keys(TOPIC_ACCESS) as (keyof typeof TOPIC_ACCESS)[];

async function writeCertificate(): Promise<void> {
  const { certPem, keyPem } = await authority.issue(['worker'], {
    notAfter: new Date(Date.now() + 86_400_000),
  });
  // The key first: a pair that does not match is refused, and the previous one stays.
  writeFileSync(fileOf('key.pem'), keyPem);
  writeFileSync(fileOf('cert.pem'), certPem);
}

async function createTopics(): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: kafka.brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = TOPIC_TABLE.map(({ name, partitions, configs }) => ({
    topic: name,
    numPartitions: partitions,
    configEntries: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
  }));
  await admin.createTopics({ topics, waitForLeaders: false });
  await admin.disconnect();
}

const settingsOf = (service: string): Record<string, string> => ({
  KAFKA_BROKERS: kafka.secure,
  TOPICS_CREATE: 'false',
  KAFKA_TLS: 'true',
  KAFKA_TLS_CA_FILE: authority.caFile,
  KAFKA_TLS_CERT_FILE: fileOf('cert.pem'),
  KAFKA_TLS_KEY_FILE: fileOf('key.pem'),
  KAFKA_SASL_MECHANISM: MECHANISM,
  KAFKA_SASL_USERNAME: service,
  KAFKA_SASL_PASSWORD_FILE: fileOf('password'),
  ...(MECHANISM === 'oauthbearer' && { KAFKA_SASL_TOKEN_ENDPOINT: issuer.tokenEndpoint }),
});

const setPasswords = async (password: string): Promise<void> => {
  for (const user of SERVICES) await kafka.setPassword(user, password, MECHANISM.toUpperCase());
};

beforeAll(async () => {
  authority = await openCertificateAuthority(folder);
  await writeCertificate();
  writeFileSync(fileOf('password'), 'first');
  const dataDir = join(folder, 'kafka');
  mkdirSync(dataDir);
  const clients = SERVICES.map((clientId) => ({
    ...{ clientId, clientSecret: 'first', tenantId: 'any', scopes: ['event.write'] as const },
  }));
  issuer = await startIssuer({ audience: 'kafka', clients });
  kafka = await startSecuredKafka({
    ...{ dataDir, authority, sessionMs: SESSION_MS },
    plainUsers: Object.fromEntries(SERVICES.map((user) => [user, 'first'])),
    tokens: { issuer: issuer.issuer, jwksUri: issuer.jwksUri, audience: 'kafka' },
  });
  await createTopics();
  if (MECHANISM.startsWith('scram')) await setPasswords('first');
  await kafka.allow(
    ...SERVICES.flatMap((user) => [
      ...Object.entries(TOPIC_ACCESS[user]).map(([topic, operations]) => ({ user, topic, operations })),
      { user, groupPrefix: `${user}.`, operations: ['Read'] as const },
    ]),
  );
  const { mongodbUri } = await emptyTestEngines();
  stack = await startStack({
    ...{ dataDir: join(folder, 'stack'), fixedPorts: false, log: () => undefined },
    ...{ kafkaBrokers: kafka.brokers, mongodbUri },
    overrides: Object.fromEntries(SERVICES.map((service) => [service, settingsOf(service)])),
  });
  const { certPem, keyPem } = await stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem, remember: 2 * EVENTS });
  const client = clientFor(stack.description(), 'acme');
  await registerWebhooks(
    () => client,
    [{ tenantId: 'acme', eventType: 'PIX_OUT', endpointUrl: endpoint.url }],
  );
  unfollow = await followTopics(kafka.brokers, [TOPICS.attempts], ({ value }) => {
    for (const entry of (JSON.parse(String(value)) as AttemptPack).records)
      if (entry.kind === 'attempt' && entry.result !== 'delivered')
        failed.push(`${entry.status ?? entry.error ?? ''} after ${entry.durationMs} ms`);
  });
}, 180_000);
afterAll(async () => {
  await unfollow();
  await endpoint.close();
  await stack.stop();
  await kafka.stop();
  await issuer.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const lines = (count: number) =>
  Array.from({ length: count }, () =>
    readFeedLine(JSON.stringify(buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT' }))),
  );

/** Feeds 200 events a second until `work` has ended, and waits until all have arrived. Returns the longest gap between arrivals. */
async function feedDuring(work: () => Promise<void>): Promise<number> {
  endpoint.forget();
  failed.length = 0;
  const over = new AbortController();
  const report = newReport();
  const feeding = (async () => {
    while (!over.signal.aborted) {
      const next = performance.now() + 500;
      await feedTopic(kafka.brokers, lines(100), report);
      await eventually(() => performance.now() >= next);
    }
  })();
  await work().finally(() => over.abort());
  await feeding;
  const sent = new Set(report.acknowledged.map(({ id }) => id));
  await eventually(() => new Set(endpoint.arrivals.map(({ id }) => id)).size >= sent.size, LONG);
  const times = endpoint.arrivals.map(({ receivedAt }) => receivedAt).sort((a, b) => a - b);
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
}

/** Until each connection has authenticated again: 600 events take three seconds. */
const untilRenewed = async (): Promise<void> => {
  const before = endpoint.arrivals.length;
  await eventually(() => endpoint.arrivals.length >= before + 600, LONG);
};

whenScram.each([
  [
    'the file of the password, then the brokers',
    async () => {
      writeFileSync(fileOf('password'), 'second');
      await untilRenewed();
      await setPasswords('second');
      await untilRenewed();
    },
  ],
  [
    'the brokers, then the file of the password',
    async () => {
      await setPasswords('third');
      writeFileSync(fileOf('password'), 'third');
      await untilRenewed();
    },
  ],
  [
    'the client certificate',
    async () => {
      await writeCertificate();
      await untilRenewed();
    },
  ],
])(
  'renewing %s under 200 events a second loses nothing, fails no attempt and leaves no gap of 3 s',
  async (_, renew) => {
    const gapMs = await feedDuring(renew);
    process.stdout.write(`longest gap ${Math.round(gapMs)} ms\n`);
    expect(gapMs).toBeLessThan(MAX_GAP_MS);
    expect(failed).toEqual([]);
  },
  120_000,
);

whenRequested(
  'the broker, restarted under 200 events a second, gets the renewed certificate and password',
  async () => {
    await feedDuring(async () => {
      await kafka.restart();
      await untilRenewed();
    });
    expect(failed).toEqual([]);
  },
  120_000,
);

const MAIN = join(import.meta.dirname, '..', '..', '..', 'services');

/** Runs a service with the argument `check`. */
async function check(service: string, over: Readonly<Record<string, string>> = {}) {
  const { mongodbUri, issuer } = stack.description();
  const env = {
    ...{ ...settingsOf(service), MONGODB_URI: mongodbUri },
    ...{ TOKEN_ISSUER: issuer, TOKEN_JWKS_URI: `${issuer}/jwks`, TOKEN_AUDIENCE: 'any' },
    SECRETS_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
    ...over,
  };
  const main = join(MAIN, service, 'dist', 'src', 'main.js');
  const run = promisify(execFile)(process.execPath, [main, 'check'], { env });
  return run.catch((error: unknown) => error as { stdout: string; code: number });
}

it.each(SERVICES)('%s with the argument check says what it reaches, one line each', async (service) => {
  const { stdout } = await check(service);
  expect(stdout).toMatch(/^(ok {5}[a-z ]+: .*\n)+$/);
  expect(stdout).toMatch(/^ok {5}kafka: localhost:\d+ responds, and no right is missing$/m);
});

it('check ends with 1 and names the fix of what is wrong', async () => {
  const ended = await check('ingest', { KAFKA_TLS_CERT_FILE: '', KAFKA_TLS_KEY_FILE: '' });
  expect(ended).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^fault {2}kafka: the broker requires a client certificate/m) as string,
  });
});

it('a right that is taken away is named by /readyz within 5 s', async () => {
  const rule = { user: 'ingest', topic: TOPICS.events, operations: ['Write'] } as const;
  await kafka.revoke(rule);
  const begun = performance.now();
  const faults = async () => (await fetch(`${stack.description().admin['ingest']}/readyz`)).text();
  await eventually(async () => (await faults()).includes(`missing right: Write on topic ${TOPICS.events}`));
  expect(performance.now() - begun).toBeLessThan(5_000);
  await kafka.allow(rule);
  await eventually(async () => (await faults()).includes('"ok"'));
}, 30_000);

it(`${EVENTS} events go through a Kafka with TLS, client certificates, ${MECHANISM} and exactly the documented rights`, async () => {
  // The embedded database would take minutes for them.
  await stack.fleet.stop('query-api');
  endpoint.forget();
  await feedTopic(kafka.brokers, lines(EVENTS), newReport());
  const ids = () => new Set(endpoint.arrivals.map(({ id }) => id));
  await eventually(() => ids().size === EVENTS, LONG);
}, 180_000);
