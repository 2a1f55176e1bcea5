import { setTimeout as delay } from 'node:timers/promises';
import { areZero, paint, parseLags } from '@webhooks/ledger';
import type { Print, ProjectionLag } from '@webhooks/ledger';

const LOOK_MS = 1_000;
/** Looks without a response until the waiting ends: a query-api that was killed is ready again in less than 30 s. */
const MAX_UNANSWERED = 30;

async function readLags(queryAdmin: string): Promise<readonly ProjectionLag[]> {
  const response = await fetch(`${queryAdmin}/metrics`, { signal: AbortSignal.timeout(LOOK_MS) });
  return parseLags(await response.text());
}

function describe(lags: readonly ProjectionLag[]): string {
  if (lags.length === 0) return 'query-api is not ready';
  const behind = lags.reduce((sum, { records }) => sum + records, 0);
  return `query-api reads what came before: ${behind.toLocaleString('en')} records behind`;
}

/**
 * Waits until query-api has read what came before, and shows at every `everyLooks` seconds how much is left. A query-api that
 * does not answer for 30 s is not waited for.
 */
export async function untilProjected(
  queryAdmin: string,
  showProgress: Print,
  everyLooks: number,
): Promise<void> {
  let unanswered = 0;
  for (let looks = 0; unanswered < MAX_UNANSWERED; looks += 1) {
    const lags = await readLags(queryAdmin).catch(() => []);
    if (areZero(lags)) return;
    unanswered = lags.length === 0 ? unanswered + 1 : 0;
    // Not at the first look: the demonstration's own events are projected within a second.
    if (looks % everyLooks === 0 && looks > 0) showProgress(paint('yellow', `· ${describe(lags)}`));
    await delay(LOOK_MS);
  }
}
