import type { BreakerRules } from './breaker.js';
import type { EndpointState } from './endpoint-state.js';

export interface AdmissionRules {
  /** Attempts under way at one endpoint. */
  readonly endpointConcurrency: number;
  /** Attempts under way at all endpoints together. */
  readonly maxAttempts: number;
  /** Deliveries queued in memory; at so many, no record of the live topics is taken. */
  readonly queueLimit: number;
  readonly breaker: BreakerRules;
  /** Whether anything may be sent there at all: one that fails and was disabled is forgotten. Default: it may. */
  readonly isEnabled?: (tenantId: string, ref: string) => boolean;
  /** The breaker of an endpoint has opened, or closed again. Must not throw. */
  readonly onBreaker?: (turned: 'opened' | 'closed', endpoint: EndpointState) => void;
}

export interface Clock {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Unix milliseconds. */
  readonly unixNow: () => number;
  /** Between 0 (inclusive) and 1. */
  readonly random: () => number;
}

/** The permission to make one attempt now; given back with `release`, exactly once. */
export interface Permit {
  readonly kind: 'permit';
  readonly endpoint: EndpointState;
  readonly epoch: number;
  /** Whether it waited in memory: what was looked up before it is old. */
  readonly queued: boolean;
  /** The opening of the breaker that it probes. */
  readonly probe: number | undefined;
}

/**
 * Why a delivery is deferred: its endpoint is known to be down (`breaker`), does less than it is sent (`busy`), or is not
 * known to be fast while the worker stops (`draining`).
 */
export type DeferReason = 'breaker' | 'busy' | 'draining';

export interface Deferred {
  readonly kind: 'deferred';
  readonly reason: DeferReason;
  /** From now, milliseconds. */
  readonly waitMs: number;
}

export type Verdict = Permit | Deferred;

/** How the attempt ended that a permit was given for. */
export type PermitEnd =
  | { readonly kind: 'succeeded'; readonly durationMs: number }
  /** `label` is for operators: a status or an error class. */
  | { readonly kind: 'failed'; readonly label: string }
  /** None was made. */
  | { readonly kind: 'unmade' };
