import { Counter } from '@webhooks/runtime';
import type { Logger, Registry } from '@webhooks/runtime';

/** The bound that a request was refused for. A word of a metric: there are no others. */
export type ShedReason =
  /** The tenant is over its requests, or events, a second. */
  | 'tenant-requests'
  | 'tenant-events'
  /** The tenant has its share of the requests under way. */
  | 'tenant-share'
  /** Everybody's requests under way, or their bodies, are at their bound. */
  | 'open-requests'
  | 'open-bodies'
  /** Kafka does not acknowledge, or too much waits for it. */
  | 'kafka';

export interface Shed {
  readonly reason: ShedReason;
  /** Whose limit it was; absent when it was everybody's. */
  readonly tenantId?: string;
}

/** Between two lines of one reason. */
const AGAIN_MS = 10_000;

/**
 * Counts what was shed, and tells of it in the log: the first one of a reason at once, and then one line in 10 s with how
 * many they were since the last line, for there may be thousands a second. `now` in milliseconds of a clock that never
 * goes back.
 */
export function createShedTeller(log: Logger, registry: Registry, now: () => number): (shed: Shed) => void {
  const counter = new Counter({
    name: 'http_requests_shed_total',
    help: 'Requests refused with 429 or 503, by what was at its bound',
    labelNames: ['reason'],
    registers: [registry],
  });
  const untold = new Map<ShedReason, { toldAt: number; requests: number }>();
  return ({ reason, tenantId }) => {
    counter.inc({ reason });
    const seen = untold.get(reason) ?? { toldAt: -Infinity, requests: 0 };
    untold.set(reason, seen);
    seen.requests += 1;
    const at = now();
    if (at - seen.toldAt < AGAIN_MS) return;
    log.warn('requests are refused', {
      ...{ reason, requests: seen.requests },
      ...(tenantId === undefined ? {} : { latestTenantId: tenantId }),
    });
    seen.toldAt = at;
    seen.requests = 0;
  };
}
