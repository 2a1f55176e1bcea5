import { configurationKey, openPolicySecrets, parseKeyring } from '@webhooks/contracts';
import { eventually } from '@webhooks/testkit';
import mongoose from 'mongoose';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { reasonsOf } from '../support/caller.js';
import type { Caller } from '../support/caller.js';
import { openConfigurationTopic } from '../support/configuration-topic.js';
import type { ConfigurationTopic, SeenConfiguration } from '../support/configuration-topic.js';
import { inDays, issuePair } from '../support/issue-pair.js';
import { SECRETS_KEYS, makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;
let topic: ConfigurationTopic;
let ref: string;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi({ ENDPOINT_CONCURRENCY: '8', SIGNATURE_VENDOR: 'Acme' });
  topic = openConfigurationTopic();
});
beforeEach(async () => {
  acme = await api.tenant();
  const endpointUrl = 'https://hook.acme.com.br/pix';
  ref = String((await acme.post({ eventType: 'PIX_STATIC', endpointUrl })).body['ref']);
});
afterAll(async () => {
  await topic.close();
  await api.stop();
});

const KEY = 'Bearer 0123456789abcdef';

const secretsOf = (record: SeenConfiguration) => {
  const { sealed } = record['policy'] as { sealed: string };
  return openPolicySecrets(parseKeyring(SECRETS_KEYS), sealed, configurationKey(acme.tenantId, ref));
};
describe('the delivery policy of a webhook', () => {
  it('is empty until one is set, which goes to the workers with its values sealed', async () => {
    expect((await acme.policy(ref)).body).toEqual({});
    const clientCertificate = await issuePair();
    const plain = { timeoutMs: 25_000, maxConcurrency: 8, format: 'bacen', retryDelays: ['30s', '5m', '1d'] };
    const headers = { Authorization: KEY, 'X-Short': 'fifteen letters' };
    const { status, body } = await acme.putPolicy(ref, { ...plain, headers, clientCertificate });
    expect(status).toBe(200);
    const { subject, serialNumber, validToDate } = new X509Certificate(clientCertificate.certificate);
    const shown = {
      ...plain,
      headers: { Authorization: { endsWith: 'cdef' }, 'X-Short': {} },
      clientCertificate: { subject, serial: serialNumber, notAfter: validToDate.toISOString() },
    };
    expect(body).toEqual(shown);
    expect((await acme.policy(ref)).body).toEqual(shown);
    const record = await topic.recordOf(acme.tenantId, ref, 2);
    expect(record['policy']).toMatchObject({ ...plain, certificateNotAfter: validToDate.toISOString() });
    expect(secretsOf(record)).toEqual({ headers, clientCertificate });
    expect((await acme.get(ref)).body['updatedAt']).toBe(record['updatedAt']);
  });

  it('is replaced whole, but each sealed value stays until it is given again or null', async () => {
    const clientCertificate = await issuePair();
    const headers = { 'X-One': 'first value', 'X-Two': 'second value', 'X-Three': 'third value' };
    await acme.putPolicy(ref, { timeoutMs: 1_000, headers, clientCertificate });
    await acme.putPolicy(ref, { maxConcurrency: 1, headers: { 'X-ONE': 'another', 'X-TWO': null } });
    const record = await topic.recordOf(acme.tenantId, ref, 3);
    expect(record['policy']).toEqual({
      ...{ maxConcurrency: 1, sealed: expect.any(String) as string },
      certificateNotAfter: new X509Certificate(clientCertificate.certificate).validToDate.toISOString(),
    });
    expect(secretsOf(record)).toEqual({
      headers: { 'X-ONE': 'another', 'X-Three': 'third value' },
      clientCertificate,
    });
    await acme.putPolicy(ref, { clientCertificate: null });
    expect(secretsOf(await topic.recordOf(acme.tenantId, ref, 4))).toEqual({
      headers: { 'X-ONE': 'another', 'X-Three': 'third value' },
    });
    expect((await acme.putPolicy(ref, { headers: null })).body).toEqual({});
    expect(await topic.recordOf(acme.tenantId, ref, 5)).not.toHaveProperty('policy');
  });

  it('loses no header when many set one each at the same moment', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `X-${index}`);
    await Promise.all(names.map((name) => acme.putPolicy(ref, { headers: { [name]: `value of ${name}` } })));
    expect(Object.keys((await acme.policy(ref)).body['headers'] as object).sort()).toEqual(names);
    await topic.recordOf(acme.tenantId, ref, 11);
  });

  it('survives an update and a rotation, and goes back to the defaults with its sealed values', async () => {
    await acme.putPolicy(ref, { timeoutMs: 2_000, headers: { Authorization: KEY } });
    await acme.rotate(ref);
    await acme.put({ ref, eventType: 'PIX_STATIC', endpointUrl: 'https://hook.acme.com.br/new' });
    expect((await topic.recordOf(acme.tenantId, ref, 4))['policy']).toMatchObject({ timeoutMs: 2_000 });
    expect((await acme.removePolicy(ref)).status).toBe(204);
    expect(await topic.recordOf(acme.tenantId, ref, 5)).not.toHaveProperty('policy');
    expect((await acme.policy(ref)).body).toEqual({});
    expect((await acme.removePolicy(ref)).status).toBe(204);
  });

  it('shows a certificate that has no subject', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'no-subject-'));
    const files = ['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')];
    const name = ['-subj', '/', '-addext', 'subjectAltName=DNS:acme.com.br'];
    await promisify(execFile)('openssl', [
      'req',
      '-x509',
      '-nodes',
      '-newkey',
      'rsa:2048',
      ...name,
      ...files,
    ]);
    const read = (file: string) => readFile(join(dir, file), 'utf8');
    const clientCertificate = { certificate: await read('cert.pem'), key: await read('key.pem') };
    const { status, body } = await acme.putPolicy(ref, { clientCertificate });
    expect([status, body]).toMatchObject([200, { clientCertificate: { subject: '' } }]);
  });

  it('of another tenant looks like one of an unknown webhook', async () => {
    const beta = await api.tenant();
    for (const name of [ref, 'nonsense'])
      for (const answer of [beta.policy(name), beta.putPolicy(name, {}), beta.removePolicy(name)])
        expect((await answer).body).toMatchObject({ code: 'not-found', status: 404 });
    expect(topic.recordsOf(acme.tenantId, ref)).toHaveLength(1);
  });

  it('leaves a line in the audit trail with whether it changed anything', async () => {
    const headers = { Authorization: KEY };
    await acme.putPolicy(ref, { timeoutMs: 2_000, maxConcurrency: 2, headers });
    await acme.putPolicy(ref, { timeoutMs: 2_000, headers: { authorization: null, ...headers } });
    await acme.putPolicy(ref, { headers, maxConcurrency: 2, timeoutMs: 2_000 });
    await acme.putPolicy(ref, { timeoutMs: 2_000, headers: { Authorization: `${KEY}0` } });
    await acme.removePolicy(ref);
    await acme.removePolicy(ref);
    const lines = api.lines.filter(({ fields }) => fields['ref'] === ref && 'changed' in fields);
    expect(lines.slice(1).map(({ fields }) => [fields['action'], fields['changed']])).toEqual([
      ['replace-policy', true],
      ['replace-policy', false],
      ['replace-policy', true],
      ['remove-policy', true],
      ['remove-policy', false],
    ]);
  });

  it('with the format bacen is for payments alone, whichever of the two changes', async () => {
    const endpointUrl = 'https://hook.acme.com.br/pix';
    await acme.put({ ref, eventType: 'PIX_REVERSAL', endpointUrl });
    expect(reasonsOf(await acme.putPolicy(ref, { format: 'bacen' }))).toEqual([
      'format does not fit: the format bacen of the delivery policy is for PIX_DYNAMIC_PAID and PIX_STATIC only',
    ]);
    await acme.put({ ref, eventType: 'PIX_DYNAMIC_PAID', endpointUrl });
    expect((await acme.putPolicy(ref, { format: 'bacen' })).status).toBe(200);
    expect(reasonsOf(await acme.put({ ref, eventType: 'PIX_OUT', endpointUrl }))).toEqual([
      'eventType does not fit: the format bacen of the delivery policy is for PIX_DYNAMIC_PAID and PIX_STATIC only',
    ]);
    expect((await acme.get(ref)).body).toMatchObject({ eventType: 'PIX_DYNAMIC_PAID' });
    expect((await acme.put({ ref, eventType: 'PIX_STATIC', endpointUrl })).status).toBe(200);
  });
});

/** Every document of the service's database. */
async function documents(): Promise<unknown> {
  const connection = await mongoose.createConnection(api.env['MONGODB_URI'] ?? '').asPromise();
  const collections = (await connection.db?.collections()) ?? [];
  const all = await Promise.all(collections.map((one) => one.find().toArray()));
  await connection.close();
  return all;
}

const secondLine = (pem: string): string => pem.split('\n')[1] ?? '';

describe('sealed values', () => {
  it('stand in no document, no record and no log line', async () => {
    const [pair, refused] = [
      await issuePair({ notAfter: inDays(9) }),
      await issuePair({ notAfter: inDays(8) }),
    ];
    const header = 'value-of-a-header-0123';
    const [, secret] = [await acme.rotate(ref), `whsec_${Buffer.alloc(40, 'brought').toString('base64')}`];
    await acme.rotate(ref, { secret });
    await acme.putPolicy(ref, { headers: { Authorization: header }, clientCertificate: pair });
    for (const body of [
      { headers: { Host: header } },
      { headers: { 'X-A': `${header}\n` } },
      { headers: { [header + ':']: 'x' } },
      { clientCertificate: { ...pair, key: refused.key } },
      { clientCertificate: { certificate: pair.key, key: refused.key } },
      { clientCertificate: header },
      `{"headers":{"X-A":"${header}"`,
    ]) {
      const answer = await acme.putPolicy(ref, body);
      expect(answer.status).toBe(422);
      expect(answer.text).not.toContain(header);
      expect(answer.text).not.toContain(secondLine(refused.key));
    }
    const answer = await acme.rotate(ref, { secret: `${secret}!` });
    expect(answer.text).not.toContain(secret.slice(6));
    await topic.recordOf(acme.tenantId, ref, 4);

    const dump = JSON.stringify([await documents(), topic.recordsOf(acme.tenantId, ref), api.lines]);
    expect(dump).toContain(ref);
    const lines = [pair.key, refused.key, pair.certificate].map(secondLine);
    for (const value of [header, secret.slice(6), ...lines]) {
      expect(value.length).toBeGreaterThan(20);
      expect(dump).not.toContain(value);
      expect(dump).not.toContain(Buffer.from(value).toString('base64').slice(0, 20));
    }
  });

  it('that no key opens can only be replaced or removed', async () => {
    await acme.putPolicy(ref, { timeoutMs: 5_000, headers: { Authorization: KEY } });
    const other = await startConfigApi({
      MONGODB_URI: api.env['MONGODB_URI'] ?? '',
      SECRETS_KEYS: `k2:${Buffer.alloc(32, 9).toString('base64')}`,
    });
    try {
      const lost = await other.tenant(acme.tenantId);
      expect((await lost.policy(ref)).body).toMatchObject({ status: 500, code: 'internal-error' });
      expect((await lost.putPolicy(ref, { headers: { 'X-A': 'b' } })).status).toBe(500);
      expect((await lost.get(ref)).status).toBe(200);
      const whole = { headers: null, clientCertificate: null };
      expect((await lost.putPolicy(ref, { ...whole, timeoutMs: 6_000 })).body).toEqual({ timeoutMs: 6_000 });
      await acme.putPolicy(ref, { headers: { Authorization: KEY } });
      expect((await lost.removePolicy(ref)).status).toBe(204);
      expect((await lost.policy(ref)).body).toEqual({});
    } finally {
      await other.stop();
    }
  });
});

describe('without Kafka', () => {
  it('a policy is durable and marked as not in force, and its removal gets 202', async () => {
    const lonely = await startConfigApi({ KAFKA_BROKERS: '127.0.0.1:9' });
    try {
      const caller = await lonely.tenant();
      const { body } = await caller.post({ eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/a' });
      const given = String(body['ref']);
      expect((await caller.putPolicy(given, { timeoutMs: 1_000 })).body).toEqual({
        timeoutMs: 1_000,
        published: false,
      });
      expect((await caller.policy(given)).body).toEqual({ timeoutMs: 1_000 });
      expect((await caller.removePolicy(given)).status).toBe(202);
      await eventually(() => lonely.lines.some(({ fields }) => fields['action'] === 'remove-policy'));
    } finally {
      await lonely.stop();
    }
  });
});
