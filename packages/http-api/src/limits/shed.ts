import { addCounter, createLogThrottles } from '@webhooks/runtime';
import type { Logger, Registry } from '@webhooks/runtime';

/** The limit that refused a request; the values of the label `reason` of `http_requests_shed_total`. */
type ShedReason =
  /** The tenant has exceeded its requests, or events, per second. */
  | 'tenant-requests'
  | 'tenant-events'
  /** The tenant has used its share of the open requests or bodies. */
  | 'tenant-share'
  /** The open requests of all tenants, or the bytes of their bodies, have reached their limit. */
  | 'open-requests'
  | 'open-bodies'
  /** Kafka does not acknowledge, or too many records wait for it. */
  | 'kafka';

/** Why a request was refused for a limit or for capacity. */
export interface Shed {
  readonly reason: ShedReason;
  /** The tenant whose limit was reached; absent for a limit of all tenants together. */
  readonly tenantId?: string;
}

/** Counts refused requests, and logs them with a throttle for each reason. */
export function createShedLog(log: Logger, registry: Registry): (shed: Shed) => void {
  const help = 'Requests refused with 429 or 503, by the limit that was reached';
  const counter = addCounter(registry, 'http_requests_shed_total', help, 'reason');
  const throttle = createLogThrottles();
  return ({ reason, tenantId }) => {
    counter.inc({ reason });
    const latest = tenantId === undefined ? {} : { latestTenantId: tenantId };
    throttle(reason, (requests) => log.warn('requests are refused', { reason, requests, ...latest }));
  };
}
