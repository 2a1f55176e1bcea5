import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingsReader } from '@webhooks/runtime';
import { sharedAuthority } from '@webhooks/testkit';
import { readWorkerConfig } from '../src/config.js';

const ENV = { KAFKA_BROKERS: 'kafka:9092', SECRETS_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` };

function read(env: Record<string, string>) {
  const settings = new SettingsReader({ ...ENV, ...env });
  return { config: readWorkerConfig(settings), faults: settings.faults };
}

it('all settings have defaults, except those of the place where the worker runs', () => {
  const { config, faults } = read({});
  expect(faults).toEqual([]);
  expect(config).toMatchObject({
    schedule: { maxAgeMs: 8 * 86_400_000, retryAfterMaxMs: 3_600_000 },
    breaker: { failures: 10, firstPauseMs: 30_000, maxPauseMs: 600_000 },
    sending: { addresses: { allowLoopback: false, deny: [], allow: [] } },
  });
});

it.each([
  ['ENDPOINT_ALLOWED_CIDRS', '8.8.8.0/24'],
  ['ENDPOINT_ALLOWED_CIDRS', '10.0.0.0/99'],
  ['ENDPOINT_DENIED_CIDRS', 'nowhere'],
  ['DELIVERY_MAX_AGE', '8 days'],
  ['BREAKER_FIRST_PAUSE', '11m'],
  ['EGRESS_PROXY', 'proxy:3128'],
  ['EGRESS_PROXY_CREDENTIALS', 'no colon'],
])('%s=%s is refused, by its name', (name, value) => {
  expect(read({ [name]: value }).faults).toEqual([expect.stringContaining(name) as unknown]);
});

it('the egress proxy has its credentials from a file', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'egress-')), 'credentials');
  writeFileSync(file, 'user:password\n');
  const env = { EGRESS_PROXY: 'http://proxy:3128', EGRESS_PROXY_CREDENTIALS_FILE: file };
  expect(read(env).config.sending.egressProxy).toEqual({
    ...{ host: 'proxy', port: 3_128 },
    authorization: `Basic ${Buffer.from('user:password').toString('base64')}`,
  });
  expect(read({}).config.sending.egressProxy).toBeUndefined();
});

describe('the client certificate', () => {
  it('is read from both files', async () => {
    const { certFile, keyFile, certPem: certificate } = await (await sharedAuthority()).issue(['deliveries']);
    const { config, faults } = read({ CLIENT_CERTIFICATE_FILE: certFile, CLIENT_KEY_FILE: keyFile });
    expect(faults).toEqual([]);
    expect(config.sending.clientCertificate).toMatchObject({
      certificateFile: certFile,
      keyFile,
      certificate,
    });
  });

  it('that has expired does not keep the worker from starting', async () => {
    const dates = { notBefore: new Date(0), notAfter: new Date(86_400_000) };
    const { certFile, keyFile } = await (await sharedAuthority()).issue(['deliveries'], dates);
    const { config, faults } = read({ CLIENT_CERTIFICATE_FILE: certFile, CLIENT_KEY_FILE: keyFile });
    expect(faults).toEqual([]);
    expect(config.sending.clientCertificate).toMatchObject({ expiresAt: dates.notAfter });
  });

  it('is refused when one is missing or of another certificate, together with all other faults', async () => {
    const authority = await sharedAuthority();
    const { certFile, keyFile } = await authority.issue(['deliveries']);
    const other = await authority.issue(['others']);
    const faultsOf = (env: Record<string, string>) => read({ ...env, DELIVERY_MAX_AGE: '8 days' }).faults;
    const maxAge = expect.stringContaining('DELIVERY_MAX_AGE') as unknown;
    expect(faultsOf({ CLIENT_KEY_FILE: keyFile })).toEqual(['CLIENT_CERTIFICATE_FILE is required', maxAge]);
    expect(faultsOf({ CLIENT_CERTIFICATE_FILE: certFile })).toEqual([
      'CLIENT_CERTIFICATE_FILE: CLIENT_KEY_FILE is required with it',
      maxAge,
    ]);
    expect(faultsOf({ CLIENT_CERTIFICATE_FILE: certFile, CLIENT_KEY_FILE: other.keyFile })).toEqual([
      'CLIENT_CERTIFICATE_FILE: expected the key of the certificate, got another one',
      maxAge,
    ]);
  });
});
