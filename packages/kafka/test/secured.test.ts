import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { text as readText } from 'node:stream/consumers';
import { join } from 'node:path';
import { TOPIC_ACCESS, TOPIC_TABLE } from '@webhooks/contracts';
import { openCertificateAuthority, startIssuer, startSecuredKafka } from '@webhooks/local';
import type { CertificateAuthority, Issuer, SecuredKafka } from '@webhooks/local';
import { SettingsReader } from '@webhooks/runtime';
import { eventually } from '@webhooks/testkit';
import { createKafka, ensureTopics } from '../src/index.js';
import { explainFault } from '../src/explain-fault.js';
import { findAccessFaults, type KafkaAccess } from '../src/access.js';
import { checkKafka, readKafkaSettings } from '../src/connect-kafka.js';

const folder = mkdtempSync(join(tmpdir(), 'secured-'));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
let kafka: SecuredKafka;
let issuer: Issuer;
let good: Readonly<Record<string, string>>;
let oauth: Readonly<Record<string, string>>;
let authority: CertificateAuthority;

const RULE = { user: 'worker', operations: ['Read', 'Write', 'DescribeConfigs'], topic: 'payments' } as const;
const GROUPS = { user: 'worker', operations: ['Read'], groupPrefix: 'w.' } as const;
const NO_TLS = { KAFKA_TLS: '', KAFKA_TLS_CA_FILE: '', KAFKA_TLS_CERT_FILE: '', KAFKA_TLS_KEY_FILE: '' };
const ACCESS = { topics: { payments: RULE.operations }, groups: ['w.events'] };

beforeAll(async () => {
  authority = await openCertificateAuthority(folder);
  const client = {
    clientId: 'worker',
    clientSecret: 'client-secret',
    tenantId: 'any',
    scopes: ['event.write'] as const,
  };
  issuer = await startIssuer({ audience: 'kafka', clients: [client] });
  const dataDir = join(folder, 'kafka');
  mkdirSync(dataDir);
  kafka = await startSecuredKafka({
    ...{ dataDir, authority, plainUsers: { worker: 'plain-secret' } },
    tokens: { issuer: issuer.issuer, jwksUri: issuer.jwksUri, audience: 'kafka' },
  });
  await kafka.setPassword('worker', 'scram-secret');
  await kafka.setPassword('worker', 'scram-secret', 'SCRAM-SHA-256');
  const admin = createKafka({ brokers: kafka.brokers, clientId: 'admin' });
  const names = ['payments', ...TOPIC_TABLE.map(({ name }) => name)];
  await ensureTopics(
    admin,
    names.map((name) => ({ name, partitions: 1, configs: {} })),
  );
  await admin.close();
  await kafka.allow(RULE);
  await kafka.allow(GROUPS);
  const { certFile, keyFile } = await authority.issue(['worker']);
  good = {
    KAFKA_BROKERS: kafka.secure,
    KAFKA_TLS: 'true',
    KAFKA_TLS_CA_FILE: authority.caFile,
    KAFKA_TLS_CERT_FILE: certFile,
    KAFKA_TLS_KEY_FILE: keyFile,
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'worker',
    KAFKA_SASL_PASSWORD_FILE: file('password', 'scram-secret\n'),
  };
  oauth = {
    KAFKA_SASL_MECHANISM: 'oauthbearer',
    KAFKA_SASL_PASSWORD_FILE: file('client-secret', 'client-secret'),
    KAFKA_SASL_TOKEN_ENDPOINT: issuer.tokenEndpoint,
  };
}, 120_000);
afterAll(async () => {
  await kafka.stop();
  await issuer.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Beyond those of SCRAM-SHA-512. */
function settingsOf(mechanism: string): Readonly<Record<string, string>> {
  if (mechanism === 'plain') return { KAFKA_SASL_PASSWORD_FILE: file('plain', 'plain-secret') };
  return mechanism === 'oauthbearer' ? oauth : {};
}

/** Checks with these settings. An empty text unsets one. */
async function check(over: Readonly<Record<string, string>>, access: KafkaAccess = ACCESS): Promise<string> {
  const reader = new SettingsReader({ ...good, ...over });
  const settings = readKafkaSettings(reader, 'worker');
  expect(reader.faults).toEqual([]);
  return checkKafka({ ...settings, createTopics: false }, { access });
}

it('a missing topic is named', async () => {
  await expect(check({}, { topics: { absent: ['Read'] }, groups: [] })).rejects.toThrow(
    'missing right: Read on topic absent',
  );
  await kafka.allow({ ...RULE, topic: 'absent' });
  await expect(check({}, { topics: { absent: ['Read'] }, groups: [] })).rejects.toThrow(
    'missing topics: absent',
  );
});

it.each(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'])(
  '%s over TLS with a client certificate is accepted',
  async (mechanism) => {
    await expect(check({ ...settingsOf(mechanism), KAFKA_SASL_MECHANISM: mechanism })).resolves.toBe(
      `${kafka.secure} responds, and no right is missing`,
    );
  },
);

/** What an operator may set wrong, by its row in deploy/README.md. */
const WRONG: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  'another port or host': () => ({ KAFKA_BROKERS: 'localhost:1,no-such-host.invalid:9092' }),
  'no TLS': () => NO_TLS,
  'no SASL': () => ({ KAFKA_SASL_MECHANISM: '' }),
  'TLS where there is none': () => ({ KAFKA_BROKERS: kafka.brokers.join(',') }),
  'no authority': () => ({ KAFKA_TLS_CA_FILE: '' }),
  'another name of the broker': () => ({ KAFKA_BROKERS: kafka.secure.replace('localhost', '127.0.0.1') }),
  'no client certificate': () => ({ KAFKA_TLS_CERT_FILE: '', KAFKA_TLS_KEY_FILE: '' }),
  'a wrong password': () => ({ KAFKA_SASL_PASSWORD: 'wrong' }),
  'a wrong client secret': () => ({ ...oauth, KAFKA_SASL_PASSWORD: 'wrong' }),
};

/** The second column of the row of the document. */
function documented(name: string): string {
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'deploy', 'README.md'), 'utf8');
  const row = text.split('\n').find((line) => line.startsWith(`| ${name} `)) ?? '';
  return row.split('|')[2]?.trim() ?? '';
}

it.each(Object.entries(WRONG))('%s: the documented message comes within 5 s', async (name, settings) => {
  const says = documented(name);
  expect(says).not.toBe('');
  const begun = performance.now();
  await expect(check(settings())).rejects.toThrow(says);
  expect(performance.now() - begun).toBeLessThan(5_000);
});

it('more replicas than brokers: the documented message comes', async () => {
  const client = createKafka({ brokers: kafka.brokers, clientId: 'admin' });
  const topic = { name: 'replicated', partitions: 1, configs: {}, replicationFactor: 3 };
  const creating = ensureTopics(client, [topic], { deadlineMs: 1_000 });
  const error: unknown = await creating.catch((fault: unknown) => fault);
  const way = { brokers: kafka.brokers, replicationFactor: 3 };
  expect(explainFault(error, way)).toContain(documented('too many replicas'));
  await client.close();
});

it('a certificate and a key that do not match are refused by name', async () => {
  const { keyFile } = await authority.issue(['another']);
  await expect(check({ KAFKA_TLS_KEY_FILE: keyFile })).rejects.toThrow(
    'KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE or KAFKA_TLS_KEY_FILE: certificate and key do not match',
  );
});

it('a token endpoint that fails and comes back lets the same connections authenticate', async () => {
  let isGood = false;
  const server = createServer((request, response) => {
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const respond = async (): Promise<void> => {
      const headers = { authorization, 'content-type': type };
      const grant = { method: 'POST', headers, body: await readText(request) };
      if (!isGood) response.writeHead(503).end();
      else response.end(await (await fetch(issuer.tokenEndpoint, grant)).text());
    };
    respond().catch((error: unknown) => response.destroy(error as Error));
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  const over = { ...oauth, KAFKA_SASL_TOKEN_ENDPOINT: `http://127.0.0.1:${port}` };
  const client = createKafka(readKafkaSettings(new SettingsReader({ ...good, ...over }), 'worker'));
  for (let tries = 0; tries < 3; tries += 1)
    await expect(findAccessFaults(client, ACCESS)).rejects.toThrow('status 503');
  isGood = true;
  await eventually(async () => expect(await findAccessFaults(client, ACCESS)).toEqual([]));
  await client.close();
  server.close();
});

it('a mechanism that the broker does not offer: the documented message comes', () => {
  const error = new Error('SASL OAUTHBEARER mechanism is not supported by the server');
  expect(explainFault(error, { brokers: [] })).toContain(documented('another mechanism'));
});

it.each([
  ...RULE.operations.map(
    (operation) => [operation, 'topic payments', { ...RULE, operations: [operation] }] as const,
  ),
  ['Read', 'group w.events', GROUPS] as const,
])('without the right %s on %s it is named', async (operation, on, rule) => {
  await kafka.revoke(rule);
  const says = `missing right: ${operation} on ${on}`;
  await eventually(async () => expect(await check({}).catch(String)).toContain(says));
  await kafka.allow(rule);
});

const SERVICES = Object.entries(TOPIC_ACCESS);

it.each(SERVICES)(
  'each right of %s that is taken away is named, and no other',
  async (service, topics) => {
    const rules = Object.entries(topics).map(([topic, operations]) => ({ user: service, operations, topic }));
    await Promise.all([kafka.setPassword(service, 'secret'), kafka.allow(...rules)]);
    const own = { ...good, KAFKA_SASL_USERNAME: service, KAFKA_SASL_PASSWORD: 'secret' };
    const client = createKafka(readKafkaSettings(new SettingsReader(own), service));
    // A broker applies a rule a moment after it was acknowledged.
    const untilFaults = (faults: readonly string[]) =>
      eventually(async () => expect(await findAccessFaults(client, { topics, groups: [] })).toEqual(faults));
    await untilFaults([]);
    for (const [topic, operations] of Object.entries(topics)) {
      for (const operation of operations) {
        const rule = { user: service, operations: [operation], topic };
        await kafka.revoke(rule);
        await untilFaults([`missing right: ${operation} on topic ${topic}`]);
        await kafka.allow(rule);
      }
    }
    await client.close();
  },
  60_000,
);

it('PLAIN without TLS is refused in production', () => {
  const reader = new SettingsReader({
    NODE_ENV: 'production',
    ...{ KAFKA_BROKERS: 'kafka:9092', KAFKA_SASL_MECHANISM: 'PLAIN' },
    ...{ KAFKA_SASL_USERNAME: 'worker', KAFKA_SASL_PASSWORD: 'secret' },
  });
  readKafkaSettings(reader, 'worker');
  expect(reader.faults).toEqual([expect.stringContaining('plain sends the password as it is')]);
});
