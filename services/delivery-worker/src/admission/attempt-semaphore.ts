import { INITIAL_LIMIT } from './endpoint-state.js';
import type { EndpointState, PermitEnd } from './endpoint-state.js';

/**
 * Share of the free slots that one endpoint may use. A tenant may use as many slots as are free. Powers of two, as
 * in the paper below.
 */
const ENDPOINT_SHARE = 1 / 8;

const TIMED_OUT: ReadonlySet<string> = new Set(['TIMEOUT', 'CONNECT_TIMEOUT']);

/**
 * Counts the attempts in flight and decides who may start one. Slow start (RFC 5681 §3.1): a success raises an
 * endpoint's limit by one, and a timeout resets it. Dynamic thresholds: each endpoint is limited to a share of the
 * free slots, so some always stay free (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory
 * packet switches", 1998). Twenty hanging endpoints leave 293 of 1,024 slots free, a single tenant 512.
 */
export class AttemptSemaphore {
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

  /** Attempts that the endpoint may have in flight now, at least one. */
  limitOf({ limit, target: { maxConcurrency = this.#endpointMax } }: EndpointState): number {
    return Math.max(1, Math.min(limit, this.#endpointMax, maxConcurrency, this.free * ENDPOINT_SHARE));
  }

  mayStart(endpoint: EndpointState): boolean {
    return endpoint.tenant.busy < this.free && endpoint.busy < this.limitOf(endpoint);
  }

  start(endpoint: EndpointState, tick: number): void {
    endpoint.busy += 1;
    endpoint.tenant.busy += 1;
    this.busy += 1;
    endpoint.movedTick = tick;
  }

  end(endpoint: EndpointState, end: PermitEnd): void {
    endpoint.busy -= 1;
    endpoint.tenant.busy -= 1;
    this.busy -= 1;
    if (end.kind === 'succeeded') endpoint.limit = Math.min(endpoint.limit + 1, this.#endpointMax);
    else if (end.kind === 'failed' && TIMED_OUT.has(end.label)) endpoint.limit = INITIAL_LIMIT;
  }
}
