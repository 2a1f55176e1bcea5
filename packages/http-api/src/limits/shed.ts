import { addCounter, createLogThrottles } from '@webhooks/runtime';
import type { Logger, Registry } from '@webhooks/runtime';

/** The bound for which a request was refused; the values of a metric's label. */
type ShedReason =
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

/** Counts refused requests, and logs them with a throttle for each reason. */
export function createShedLog(log: Logger, registry: Registry): (shed: Shed) => void {
  const help = 'Requests refused with 429 or 503, by what was at its bound';
  const counter = addCounter(registry, 'http_requests_shed_total', help, 'reason');
  const throttle = createLogThrottles();
  return ({ reason, tenantId }) => {
    counter.inc({ reason });
    const latest = tenantId === undefined ? {} : { latestTenantId: tenantId };
    throttle(reason, (requests) => log.warn('requests are refused', { reason, requests, ...latest }));
  };
}
