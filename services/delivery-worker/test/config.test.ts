import { SettingsReader } from '@webhooks/runtime';
import { readWorkerConfig } from '../src/config.js';

const ENV = { KAFKA_BROKERS: 'kafka:9092', SECRETS_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` };

function read(env: Record<string, string>) {
  const settings = new SettingsReader({ ...ENV, ...env });
  return { config: readWorkerConfig(settings), faults: settings.faults };
}

it('have defaults for everything that is not about the place where the worker runs', () => {
  const { config, faults } = read({});
  expect(faults).toEqual([]);
  expect(config).toMatchObject({
    schedule: { maxAgeMs: 8 * 86_400_000, retryAfterMaxMs: 3_600_000 },
    breaker: { failures: 10, firstPauseMs: 30_000, maxPauseMs: 600_000 },
    addresses: { allowLoopback: false, deny: [], allow: [] },
  });
});

it.each([
  ['ENDPOINT_ALLOWED_CIDRS', '8.8.8.0/24'],
  ['ENDPOINT_ALLOWED_CIDRS', '10.0.0.0/99'],
  ['ENDPOINT_DENIED_CIDRS', 'nowhere'],
  ['DELIVERY_MAX_AGE', '8 days'],
  ['BREAKER_FIRST_PAUSE', '11m'],
])('%s=%s is refused, by its name', (name, value) => {
  expect(read({ [name]: value }).faults).toEqual([expect.stringContaining(name) as unknown]);
});
