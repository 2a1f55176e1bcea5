import { INITIAL_LIMIT } from './endpoint-state.js';
import type { EndpointState, PermitEnd } from './endpoint-state.js';

/** An endpoint gets a quarter of what is free, a tenant twice of it: powers of two, as in the paper below. */
const ENDPOINT_SHARE = 1 / 4;
const TENANT_SHARE = 2;

const TIMED_OUT: ReadonlySet<string> = new Set(['TIMEOUT', 'CONNECT_TIMEOUT']);

/**
 * The attempts under way, and who may start one. Slow start (RFC 5681 §3.1): an endpoint's limit grows by one with each
 * success, and a time-out halves it. Dynamic thresholds (Choudhury and Hahne, "Dynamic queue length thresholds for
 * shared-memory packet switches", 1998): because a share is of what is free, something is always left. Twenty endpoints that
 * hang leave 170 of 1,024 slots, a tenant alone 341.
 */
export class AttemptSlots {
  busy = 0;
  readonly #max: number;
  readonly #endpointMax: number;

  constructor(max: number, endpointMax: number) {
    this.#max = max;
    this.#endpointMax = endpointMax;
  }

  get free(): number {
    return this.#max - this.busy;
  }

  /** How many attempts the endpoint may have under way now, at least one; no more than it started with while it is stalled. */
  limitOf(endpoint: EndpointState, isStalled: boolean): number {
    return Math.min(endpoint.limit, isStalled ? INITIAL_LIMIT : Infinity, this.mostFor());
  }

  /** How many any endpoint may have under way now. */
  mostFor(): number {
    return Math.max(1, Math.min(this.#endpointMax, this.free * ENDPOINT_SHARE));
  }

  mayStart(endpoint: EndpointState, isStalled: boolean): boolean {
    const { free } = this;
    if (free <= 0 || endpoint.busy >= this.limitOf(endpoint, isStalled)) return false;
    return endpoint.tenant.busy < Math.max(1, free * TENANT_SHARE);
  }

  start(endpoint: EndpointState): void {
    endpoint.busy += 1;
    endpoint.tenant.busy += 1;
    this.busy += 1;
  }

  end(endpoint: EndpointState): void {
    endpoint.busy -= 1;
    endpoint.tenant.busy -= 1;
    this.busy -= 1;
  }

  learn(endpoint: EndpointState, end: PermitEnd): void {
    if (end.kind === 'succeeded') endpoint.limit = Math.min(endpoint.limit + 1, this.#endpointMax);
    else if (end.kind === 'failed' && TIMED_OUT.has(end.label))
      endpoint.limit = Math.max(INITIAL_LIMIT, endpoint.limit / 2);
  }
}
