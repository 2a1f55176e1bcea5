import type { SendTarget } from '@webhooks/outbound';
import type { BreakerRules } from './breaker.js';
import { EndpointState } from './endpoint-state.js';
import type { TenantState } from './endpoint-state.js';

/** Endpoints remembered, about 50 MB; beyond it the idle ones opened first go: an open breaker then costs ten attempts again. */
const MAX_ENDPOINTS = 100_000;
/** Milliseconds an idle healthy one is remembered; a failing one for an hour, six of its breaker's longest pauses. */
const HEALTHY_IDLE_MS = 60_000;
const FAILING_IDLE_MS = 3_600_000;

export interface TableRules {
  readonly breaker: BreakerRules;
  /** Whether anything may be sent there at all: one that fails and was disabled is forgotten. Default: it may. */
  readonly isEnabled?: (tenantId: string, ref: string) => boolean;
}

/** The endpoints by (tenant, ref). Idle ones are forgotten. */
export class EndpointTable {
  readonly #rules: TableRules;
  readonly #endpoints = new Map<string, EndpointState>();
  readonly #tenants = new Map<string, TenantState>();
  #forgotAt = 0;

  constructor(rules: TableRules) {
    this.#rules = rules;
  }

  get size(): number {
    return this.#endpoints.size;
  }

  values(): Iterable<EndpointState> {
    return this.#endpoints.values();
  }

  of(tenantId: string, ref: string, target: SendTarget, now: number): EndpointState {
    const key = `${tenantId}/${ref}`;
    let endpoint = this.#endpoints.get(key);
    if (endpoint === undefined) {
      const tenant = this.#tenants.get(tenantId) ?? {
        tenantId,
        endpoints: 0,
        busy: 0,
        queued: 0,
        queueing: new Set<EndpointState>(),
      };
      this.#tenants.set(tenantId, tenant);
      tenant.endpoints += 1;
      endpoint = new EndpointState(ref, tenant, target, this.#rules.breaker);
      this.#endpoints.set(key, endpoint);
    }
    endpoint.use(target, now);
    return endpoint;
  }

  /** Looks at all of them once a minute, however often it is called. */
  forgetIdle(now: number): void {
    if (now - this.#forgotAt < HEALTHY_IDLE_MS && this.size <= MAX_ENDPOINTS) return;
    this.#forgotAt = now;
    for (const [key, endpoint] of this.#endpoints) {
      const isOld = now - endpoint.usedAt >= this.#keepMs(endpoint);
      if (endpoint.isIdle && (isOld || this.size > MAX_ENDPOINTS)) this.#forget(key, endpoint.tenant);
    }
  }

  #keepMs({ breaker, tenant, ref }: EndpointState): number {
    if (breaker.failures === 0) return HEALTHY_IDLE_MS;
    return this.#rules.isEnabled?.(tenant.tenantId, ref) === false ? 0 : FAILING_IDLE_MS;
  }

  #forget(key: string, tenant: TenantState): void {
    this.#endpoints.delete(key);
    tenant.endpoints -= 1;
    if (tenant.endpoints === 0) this.#tenants.delete(tenant.tenantId);
  }
}
