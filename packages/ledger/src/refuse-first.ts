import type { Arrival } from '@webhooks/testkit';

/** First attempts refused in a row: few enough that the breaker (10 failures in a row) stays closed. */
const REFUSED_IN_A_ROW = 2;

/**
 * The status of an endpoint that refuses two of three first attempts (503) and accepts every later one (200). If it refused
 * all of them, the breaker would open and pause it for half a minute.
 */
export function refuseFirst(): (arrival: Pick<Arrival, 'headers'>) => number {
  let firstAttempts = 0;
  return ({ headers }) => {
    if (headers['webhook-attempt'] !== '1') return 200;
    firstAttempts += 1;
    return firstAttempts % (REFUSED_IN_A_ROW + 1) === 0 ? 200 : 503;
  };
}
