import { setTimeout as delay } from 'node:timers/promises';
import { paint, parseLags } from '@webhooks/ledger';
import type { Print, ProjectionLag } from '@webhooks/ledger';

const LOOK_MS = 1_000;
/** A terminal overwrites the progress line; elsewhere each is a line of its own. */
const LOOKS_A_LINE = process.stdout.isTTY ? 1 : 5;
/** A projection that is behind by less has read what came before the start. Load keeps it from reaching 0. */
const FRESH_SECONDS = 5;
/** Looks without a response until the waiting ends: a query-api that was killed is ready again in less than 30 s. */
const MAX_UNANSWERED = 30;

async function readLags(queryAdmin: string): Promise<readonly ProjectionLag[]> {
  const response = await fetch(`${queryAdmin}/metrics`, { signal: AbortSignal.timeout(LOOK_MS) });
  return parseLags(await response.text());
}

const isFresh = ({ records, seconds }: ProjectionLag): boolean =>
  records === 0 || (seconds > 0 && seconds < FRESH_SECONDS);

function describe(lags: readonly ProjectionLag[]): string {
  if (lags.length === 0) return 'query-api is not ready';
  const behind = lags.reduce((sum, { records }) => sum + records, 0);
  return `query-api reads what came before: ${behind.toLocaleString('en')} records behind`;
}

/**
 * Waits until query-api has read what came before, and shows how much is left. Calls `onBehind` when it has to wait. The wait
 * ends when query-api does not respond for 30 s.
 */
export async function untilProjected(
  queryAdmin: string,
  { showProgress, onBehind }: { readonly showProgress: Print; readonly onBehind: () => void },
): Promise<void> {
  let unanswered = 0;
  for (let looks = 0; unanswered < MAX_UNANSWERED; looks += 1) {
    const lags = await readLags(queryAdmin).catch(() => []);
    if (lags.length > 0 && lags.every(isFresh)) return;
    unanswered = lags.length === 0 ? unanswered + 1 : 0;
    // Not at the first look: the demonstration's own events are projected within a second.
    if (looks === 1) onBehind();
    if (looks > 0 && (looks - 1) % LOOKS_A_LINE === 0) showProgress(paint('yellow', `· ${describe(lags)}`));
    await delay(LOOK_MS);
  }
}
