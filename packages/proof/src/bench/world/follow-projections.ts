import { areZero, readLags } from '@webhooks/testkit/account';
import type { ProjectionLag } from '@webhooks/testkit/account';
import { eventually } from '@webhooks/testkit';
import { monotonicMicros } from '../measure/times.js';
import type { World } from './world.js';

/** A worker reports an attempt some 20 ms after it, in a pack: one look at a lag of 0 proves nothing. */
const ZERO_FOR_MICROS = 500_000;
/** The embedded database projects some hundred attempts a second at its slowest: a full run takes minutes. */
const DEADLINE = { timeoutMs: 900_000, intervalMs: 100, message: 'query-api has projected everything' };

/**
 * Waits until query-api has projected everything on its topics, by this projection or by all. `onLags` gets what each look
 * finds. Gives the moment (monotonic microseconds) since which nothing is behind. Rejects after a quarter of an hour.
 */
export async function followProjections(
  { stack }: World,
  wanted?: string,
  onLags?: (lags: readonly ProjectionLag[]) => unknown,
): Promise<number> {
  let zeroSince = Infinity;
  await eventually(async () => {
    const lags = await readLags(stack.description().admin['query-api']);
    onLags?.(lags);
    const isZero = areZero(lags.filter(({ projection }) => wanted === undefined || projection === wanted));
    zeroSince = isZero ? Math.min(zeroSince, monotonicMicros()) : Infinity;
    return monotonicMicros() - zeroSince > ZERO_FOR_MICROS;
  }, DEADLINE);
  return zeroSince;
}
