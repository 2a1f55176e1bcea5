import type { Arrival } from '@webhooks/testkit';

/** First attempts refused in a row: few enough that the breaker (10 failures in a row) stays closed. */
const REFUSED_IN_A_ROW = 2;

/**
 * The answer of an endpoint that refuses two of three first attempts and takes every later one: 503 or 200. Were it to
 * refuse all of them, a burst would look as if it were down, and the breaker would rightly pause it for half a minute.
 */
export function refuseFirst(): (arrival: Pick<Arrival, 'headers'>) => number {
  let firstAttempts = 0;
  return ({ headers }) => {
    if (headers['webhook-attempt'] !== '1') return 200;
    firstAttempts += 1;
    return firstAttempts % (REFUSED_IN_A_ROW + 1) === 0 ? 200 : 503;
  };
}
