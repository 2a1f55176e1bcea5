import { setTimeout as delay } from 'node:timers/promises';
import { areZero, parseLags } from '@webhooks/ledger';
import type { ProjectionLag } from '@webhooks/ledger';
import type { World } from './world/world.js';

const LOOK_MS = 500;
const ASK_DEADLINE_MS = 5_000;
/** One look at a lag of 0 proves nothing: what was told last may not have been fetched yet. */
const ZERO_LOOKS = 4;
const DEADLINE_MS = 150_000;

async function readLags({ stack }: World): Promise<readonly ProjectionLag[]> {
  const url = `${stack.description().admin['query-api'] ?? ''}/metrics`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(ASK_DEADLINE_MS) });
  return parseLags(await answer.text());
}

/** Waits until query-api has projected all there is, for 150 s at most. Resolves with how many records it is behind. */
export async function untilProjected(world: World): Promise<number> {
  const deadline = performance.now() + DEADLINE_MS;
  let zeroLooks = 0;
  for (;;) {
    const lags = await readLags(world);
    zeroLooks = areZero(lags) ? zeroLooks + 1 : 0;
    if (zeroLooks >= ZERO_LOOKS || performance.now() > deadline)
      return lags.reduce((sum, { records }) => sum + records, 0);
    await delay(LOOK_MS);
  }
}
