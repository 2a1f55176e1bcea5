import { setTimeout as delay } from 'node:timers/promises';
import { areZero, parseLags } from '@webhooks/ledger';
import type { ProjectionLag } from '@webhooks/ledger';
import { monotonicMicros } from '../measure/clock.js';
import { LagAccount } from '../measure/lag-account.js';
import { VoidRun } from '../measure/void-run.js';
import type { World } from './world.js';

const LOOK_MS = 100;
/** A worker tells of an attempt some 20 ms after it, in a pack: one look at a lag of 0 proves nothing. */
const ZERO_LOOKS = 5;
/** The longest that a statement of a projection may take is 25 s. */
const STUCK_MS = 60_000;

async function readLags({ stack }: World): Promise<readonly ProjectionLag[]> {
  const answer = await fetch(`${stack.description().admin['query-api'] ?? ''}/metrics`);
  return parseLags(await answer.text());
}

/**
 * Waits until query-api has projected everything on its topics, and what `work` appends meanwhile. Throws `VoidRun` when
 * its lag stays the same for a minute.
 */
export async function followProjections(
  world: World,
  work: () => Promise<void> = () => Promise.resolve(),
): Promise<LagAccount> {
  const account = new LagAccount();
  let appending = true;
  const look = async (): Promise<void> => {
    let [zeroLooks, known, changedAt] = [0, '', performance.now()];
    while (zeroLooks < ZERO_LOOKS) {
      await delay(LOOK_MS);
      const isOver = !appending;
      const lags = await readLags(world);
      account.note(monotonicMicros(), lags);
      zeroLooks = isOver && areZero(lags) ? zeroLooks + 1 : 0;
      const seen = lags.map(({ records }) => records).join(', ');
      if (seen !== known) [known, changedAt] = [seen, performance.now()];
      if (performance.now() - changedAt > STUCK_MS && zeroLooks === 0)
        throw new VoidRun(`the projections stay ${seen} records behind`);
    }
  };
  const append = async (): Promise<void> => {
    try {
      await work();
    } finally {
      appending = false;
    }
  };
  await Promise.all([append(), look()]);
  return account;
}
