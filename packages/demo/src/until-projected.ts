import { setTimeout as delay } from 'node:timers/promises';
import { paint, readLags, showProgress } from '@webhooks/testkit/account';
import type { ProjectionLag } from '@webhooks/testkit/account';

const LOOK_MS = 2_000;
/** A projection that is behind by less has read what came before the start. Load keeps it from reaching 0. */
const FRESH_SECONDS = 5;
/** Looks without a response until the waiting ends: a query-api that was killed is ready again in less than 30 s. */
const MAX_UNANSWERED = 15;

const isFresh = ({ records, seconds }: ProjectionLag): boolean =>
  records === 0 || (seconds > 0 && seconds < FRESH_SECONDS);

function describe(lags: readonly ProjectionLag[]): string {
  if (lags.length === 0) return 'query-api is not ready';
  const behind = lags.reduce((sum, { records }) => sum + records, 0);
  return `query-api reads what came before: ${behind.toLocaleString('en')} records behind`;
}

/** Waits until query-api has read what came before, and shows how much is left. Ends when it does not respond for 30 s. */
export async function untilProjected(queryAdmin: string | undefined): Promise<void> {
  for (let unanswered = 0; unanswered < MAX_UNANSWERED;) {
    const lags = await readLags(queryAdmin).catch(() => []);
    if (lags.length > 0 && lags.every(isFresh)) return;
    unanswered = lags.length === 0 ? unanswered + 1 : 0;
    showProgress(paint('yellow', `· ${describe(lags)}`));
    await delay(LOOK_MS);
  }
}
