import type { DeliveryTask } from '@webhooks/contracts';
import type { SendTarget } from '@webhooks/outbound';
import { LRUCache } from 'lru-cache';
import type { BreakerRules } from './breaker.js';
import { EndpointState } from './endpoint-state.js';
import type { EndpointTarget, TenantState } from './endpoint-state.js';

/** Endpoints remembered, about 25 MB; beyond it those used longest ago go: an open breaker then costs ten attempts again. */
const MAX_ENDPOINTS = 50_000;
/** One without a delivery for so long, milliseconds, is forgotten: six of a breaker's longest pauses. */
const FORGOTTEN_AFTER_MS = 3_600_000;

const isSame = (a: SendTarget, b: SendTarget): boolean =>
  a === b || (a.origin === b.origin && a.path === b.path);

/** The endpoints by (tenant, ref). */
export class EndpointTable {
  readonly #breaker: BreakerRules;
  readonly #endpoints: LRUCache<string, EndpointState>;
  readonly #tenants = new LRUCache<string, TenantState>({
    max: MAX_ENDPOINTS,
    memoMethod: (tenantId) => ({ tenantId, busy: 0, queued: 0, queueing: new Set() }),
  });

  constructor(breaker: BreakerRules, now: () => number) {
    this.#breaker = breaker;
    const rules = { max: MAX_ENDPOINTS, ttl: FORGOTTEN_AFTER_MS, updateAgeOnGet: true, ttlResolution: 0 };
    this.#endpoints = new LRUCache({ ...rules, perf: { now } });
  }

  values(): Iterable<EndpointState> {
    return this.#endpoints.values();
  }

  /** A changed URL is another endpoint: nothing that was learned holds. */
  of({ tenantId, ref }: DeliveryTask, target: EndpointTarget): EndpointState {
    const key = `${tenantId}/${ref}`;
    const known = this.#endpoints.get(key);
    if (known !== undefined && isSame(known.target, target)) {
      this.#tenants.set(tenantId, known.tenant);
      known.target = target;
      return known;
    }
    const endpoint = new EndpointState(ref, this.#tenants.memo(tenantId), target, this.#breaker);
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }
}
