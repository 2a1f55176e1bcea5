import { SettingsReader } from '@webhooks/runtime';
import { readConfigApiConfig } from '../src/config.js';
import { SECRETS_KEYS } from './support/start-config-api.js';

const ENV = {
  MONGODB_URI: 'mongodb://user:pa%2Fss@db1:27017,db2:27017/hooks?replicaSet=rs0',
  KAFKA_BROKERS: 'kafka:9092',
  TOKEN_ISSUER: 'https://issuer.psp.com.br/',
  TOKEN_AUDIENCE: 'webhooks',
  SECRETS_KEYS,
};

function read(env: Record<string, string>) {
  const settings = new SettingsReader(env);
  return { config: readConfigApiConfig(settings), faults: settings.faults };
}

describe('the settings', () => {
  it('have defaults for everything but the addresses of other systems and keys', () => {
    const { config, faults } = read(ENV);
    expect(faults).toEqual([]);
    expect(config).toMatchObject({
      api: { port: 8081, host: '0.0.0.0' },
      urlPolicy: { allowLocalhost: false, ownHosts: [] },
      maxWebhooksPerTenant: 1_000,
    });
    expect(config.urlPolicy.allowedPorts).toContainEqual({ from: 8_443, to: 8_443 });
  });

  it.each([
    [ENV.MONGODB_URI, 'hooks'],
    ['mongodb://db', 'webhook_config'],
    ['mongodb://db/', 'webhook_config'],
    ['mongodb+srv://cluster.example.net/?retryWrites=true', 'webhook_config'],
    ['mongodb://db?directConnection=true', 'webhook_config'],
  ])('of %s mean the database %s', (uri, database) => {
    expect(read({ ...ENV, MONGODB_URI: uri }).config.mongodb).toEqual({ uri, database });
  });

  it.each([
    ['MONGODB_URI', 'postgres://db'],
    ['MONGODB_URI', 'mongodb://'],
    ['SECRETS_KEYS', 'k1:short'],
    ['ENDPOINT_PORTS', '443,x'],
    ['ENDPOINT_PORTS', '9-1'],
    ['MAX_WEBHOOKS_PER_TENANT', '0'],
    ['ALLOW_LOCALHOST_ENDPOINTS', '1'],
    ['SINGLE_TENANT', 'my tenant'],
    ['REGISTRATION_PROOF', 'both'],
    ['REGISTRATION_PROOF', 'mtls'],
    ['EGRESS_ADDRESSES', '198.51.100.7,hook.psp.com.br'],
    ['EGRESS_ADDRESSES', '198.51.100.7/33'],
    ['EGRESS_ADDRESSES', '198.51.100.7@'],
    ['EGRESS_ADDRESSES', '198.51.100.7@2026-12-01'],
    ['EGRESS_ADDRESSES', '198.51.100.7@2026-12-01T00:00:00Z@2026-12-02T00:00:00Z'],
  ])('are refused by name when %s is %s, without the value of a secret', (name, value) => {
    const { faults } = read({ ...ENV, [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(name);
    expect(faults[0]).not.toContain('short');
  });
});
