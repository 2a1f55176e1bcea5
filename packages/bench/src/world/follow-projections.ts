import { setTimeout as delay } from 'node:timers/promises';
import { areZero, readLags } from '@webhooks/ledger';
import { monotonicMicros } from '../measure/clock.js';
import { VoidRun } from '../measure/run-ledger.js';
import type { World } from './world.js';

const LOOK_MS = 100;
/** A worker reports an attempt some 20 ms after it, in a pack: one look at a lag of 0 proves nothing. */
const ZERO_LOOKS = 5;
/** The embedded database projects some hundred attempts a second at its slowest: a full run takes minutes. */
const DEADLINE_MS = 900_000;

/**
 * Waits until query-api has projected everything on its topics, by this projection or by all. Gives the moment (monotonic
 * microseconds) since which nothing is behind. Throws `VoidRun` after a quarter of an hour.
 */
export async function followProjections(world: World, wanted?: string): Promise<number> {
  const deadline = performance.now() + DEADLINE_MS;
  let [zeroLooks, zeroSince] = [0, 0];
  while (zeroLooks < ZERO_LOOKS) {
    if (performance.now() > deadline) throw new VoidRun('projections are still behind after 15 min');
    await delay(LOOK_MS);
    const lags = await readLags(world.stack.description().admin['query-api']);
    const isZero = areZero(lags.filter(({ projection }) => wanted === undefined || projection === wanted));
    if (isZero && zeroLooks === 0) zeroSince = monotonicMicros();
    zeroLooks = isZero ? zeroLooks + 1 : 0;
  }
  return zeroSince;
}
