import { setTimeout as delay } from 'node:timers/promises';
import { spareMs } from '../src/spare-time.js';

const elapsed = (): { all: number; spare: number } => ({ all: performance.now(), spare: spareMs() });

it('goes on while the event loop waits, and four times slower while it works', async () => {
  // The loop tells its idle time when it has come round.
  await delay(1);
  const start = elapsed();
  await delay(200);
  const rested = elapsed();
  while (performance.now() < rested.all + 200);
  const worked = elapsed();
  expect((rested.spare - start.spare) / (rested.all - start.all)).toBeGreaterThan(0.6);
  expect((worked.spare - rested.spare) / (worked.all - rested.all)).toBeCloseTo(0.25, 1);
});
