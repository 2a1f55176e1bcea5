import type { SourceHealth } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';

/** What of a projection's health tells how far behind it is. */
export type Lag = Pick<SourceHealth, 'lag' | 'oldestAgeMs' | 'inFlight'>;

/** Older than this is behind: a query has been told 503 for long by then. */
const BEHIND_MS = 10_000;
/** Between two lines about one projection. */
const AGAIN_MS = 30_000;

interface Behind {
  readonly since: number;
  readonly toldAt: number;
}

/**
 * Says in the log how far behind each projection is: a warning every 30 s while its oldest record waits for more than
 * 10 s, and a line when it has caught up. To be called about once a second; `now` in milliseconds of a clock that never
 * goes back.
 */
export function createTellLag(log: Logger, now: () => number): (projection: string, lag: Lag) => void {
  const behind = new Map<string, Behind>();
  return (projection, { lag, oldestAgeMs, inFlight }) => {
    const known = behind.get(projection);
    const at = now();
    if (oldestAgeMs > BEHIND_MS) {
      if (known && at - known.toldAt < AGAIN_MS) return;
      const seconds = Math.round(oldestAgeMs / 1_000);
      log.warn('a projection is behind', { projection, records: lag, seconds });
      behind.set(projection, { since: known?.since ?? at - oldestAgeMs, toldAt: at });
      return;
    }
    // Between two fetches of a long backlog nothing old is held for a moment: it has caught up when all is read, too.
    if (!known || lag > inFlight) return;
    behind.delete(projection);
    log.info('a projection has caught up', { projection, seconds: Math.round((at - known.since) / 1_000) });
  };
}
