import { HealthBoard, Registry } from '@webhooks/runtime';
import { createSourceGauges } from '../src/observe/source-health.js';

const HOUR_MS = 3_600_000;

const health = (oldestAgeByTopic: Readonly<Record<string, number>>) => ({
  ...{
    joined: true,
    lastProgressAt: 0,
    lagByPartition: {},
    lastError: undefined,
    lag: 1,
    inFlight: 0,
    retrying: 0,
    waiting: 0,
  },
  ...{ oldestAgeByTopic, oldestAgeMs: Math.max(...Object.values(oldestAgeByTopic)) },
});

it.each([
  ['retries that wait as long as their tiers', { 'webhooks.retries.24h': 23 * HOUR_MS }, 0],
  ['one that a tier withholds', { 'webhooks.retries.24h': 23 * HOUR_MS, 'webhooks.retries.5s': 65_000 }, 60],
  ['an event', { 'payments.events': 2_000 }, 2],
])('the age of a source is, of %s, what goes beyond the delay', async (_name, ages, seconds) => {
  const registry = new Registry();
  const sources = new Map([['any', { health: () => health(ages), missingTopics: () => [] }]]);
  const scope = { registry, health: new HealthBoard() };
  createSourceGauges(sources, scope as never);
  expect(await registry.metrics()).toContain(`webhook_source_lag_seconds{source="any"} ${seconds}\n`);
});
