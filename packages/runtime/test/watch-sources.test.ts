import { setTimeout as wait } from 'node:timers/promises';
import { HealthBoard, Registry, addSourceGauge, watchSource } from '../src/index.js';
import type { SourceState } from '../src/index.js';

/** A source that is a member of its group at the looks where `joined` says so, and after the last one. */
const sourceOf = (joined: boolean[], over: Partial<SourceState> = {}) => ({
  health: (): SourceState => ({
    ...{ lastProgressAt: performance.now(), lastError: 'Connection timeout' },
    ...{ joined: joined.shift() ?? true, ...over },
  }),
});

function openScope() {
  const lines: string[] = [];
  const line = (message: string, fields: unknown) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: line, info: line, warn: line, error: line };
  return { lines, log, registry: new Registry(), health: new HealthBoard() };
}

it('a gauge has a value for each source that exists at the scrape', async () => {
  const { registry } = openScope();
  const sources = new Map([['events', sourceOf([false])]]);
  const names = { name: 'test_joined', help: 'Whether it is a member', label: 'source' };
  addSourceGauge({ registry }, names, sources, ({ joined }) => Number(joined));
  sources.set('retries', sourceOf([]));
  const metrics = await registry.metrics();
  expect(metrics).toContain('test_joined{source="events"} 0\n');
  expect(metrics).toContain('test_joined{source="retries"} 1\n');
});

it('a source that lost its membership for longer than a rebalance is logged once, and once when it is a member again', async () => {
  const { lines, ...scope } = openScope();
  const source = sourceOf([false, true, false, false, false, false]);
  let looks = 0;
  const stop = watchSource('events', { health: () => ((looks += 1), source.health()) }, scope);
  // Two more than it has states: it stays a member.
  while (looks < 8) await wait(100);
  expect(lines).toEqual([
    'the source is not a member of its group: nothing is read {"source":"events","error":"Connection timeout"}',
    'the source is a member of its group again {"source":"events"}',
  ]);
  stop();
}, 30_000);

it('a source that is no member is not ready, and a member without progress for two minutes is not live', () => {
  const [lost, stuck] = [openScope(), openScope()];
  const stops = [
    watchSource('events', sourceOf([], { joined: false }), lost),
    watchSource('events', sourceOf([], { lastProgressAt: performance.now() - 121_000 }), stuck),
  ];
  expect(lost.health.isReady()).toMatchObject({ faults: { 'source events': 'not a member of its group' } });
  expect(lost.health.isLive().ok).toBe(true);
  for (const report of [stuck.health.isLive(), stuck.health.isReady()])
    expect(report).toMatchObject({ ok: false, faults: { 'source events': 'no progress for 121 s' } });
  for (const stop of stops) stop();
});
