import { HealthBoard, Registry } from '@webhooks/runtime';
import { eventually } from '@webhooks/testkit';
import { createSourceGauges, watchSource } from '../src/observe/source-health.js';
import type { Watched } from '../src/observe/source-health.js';

const silent = (): undefined => undefined;

/** A source that is a member of its group at the looks where `joined` says so, and after the last one. */
function sourceOf(joined: boolean[]): Watched {
  return {
    health: () => ({
      ...{ lagByPartition: {}, lag: 0, oldestAgeMs: 0, oldestAgeByTopic: {} },
      ...{ inFlight: 0, retrying: 0, waiting: 0, rebalances: 0, lastProgressAt: 0 },
      ...{ joined: joined.shift() ?? true, lastError: 'Connection timeout' },
    }),
    stop: () => Promise.resolve({ drained: true, committed: true }),
  };
}

function openScope() {
  const lines: string[] = [];
  const line = (message: string, fields: unknown) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: line, info: line, warn: line, error: line };
  const registry = new Registry();
  return {
    ...{ lines, log, registry, health: new HealthBoard() },
    ...{ onClose: silent, addPage: silent, fail: silent },
  };
}

it('a source that is out of its group is 0 in the metrics, though it lags by nothing', async () => {
  const scope = openScope();
  const sources = { events: sourceOf(Array<boolean>(20).fill(false)), retries: sourceOf([]) };
  createSourceGauges(new Map(Object.entries(sources)), scope);
  const metrics = await scope.registry.metrics();
  expect(metrics).toContain('webhook_source_joined{source="events"} 0\n');
  expect(metrics).toContain('webhook_source_joined{source="retries"} 1\n');
  expect(metrics).toContain('webhook_source_lag_records{source="events"} 0\n');
});

it('a rebalance is no news; who is out of its group for longer is told of once, and is back without a fault', async () => {
  const scope = openScope();
  const stop = watchSource('events', sourceOf([false, true, false, false, false, false]), scope);
  await eventually(() => expect(scope.lines).toHaveLength(2), { timeoutMs: 20_000 });
  expect(scope.lines).toEqual([
    'the source is not a member of its group: nothing is read {"source":"events","error":"Connection timeout"}',
    'the source is a member of its group again {"source":"events"}',
  ]);
  await stop(0);
}, 30_000);
