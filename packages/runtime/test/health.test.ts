import { HealthBoard } from '../src/index.js';

it('a standstill is no liveness fault while a dependency is down, and is one afterwards', () => {
  const health = new HealthBoard();
  let kafka: string | undefined = 'no acknowledgement';
  health.readiness('kafka', () => kafka);
  health.liveness('source', () => 'no progress for 121 s');
  expect(health.isLive()).toEqual({ ok: true, faults: {} });
  expect(health.isReady()).toEqual({
    ok: false,
    faults: { kafka: 'no acknowledgement', source: 'no progress for 121 s' },
  });
  kafka = undefined;
  expect(health.isLive()).toEqual({ ok: false, faults: { source: 'no progress for 121 s' } });
});

it('a standstill is a liveness fault although a probe of our own faults is not ready', () => {
  const health = new HealthBoard();
  health.readiness('kafka sink', () => 'no acknowledgement', false);
  health.readiness('source', () => undefined);
  health.liveness('source', () => 'no progress for 121 s');
  expect(health.isLive()).toEqual({ ok: false, faults: { source: 'no progress for 121 s' } });
  expect(health.isReady().ok).toBe(false);
});
