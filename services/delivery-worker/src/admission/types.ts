import type { DeliveryTask } from '@webhooks/contracts';
import type { SendTarget } from '@webhooks/outbound';
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
  readonly onBreaker?: (turned: 'opened' | 'closed', endpoint: EndpointName) => void;
}

/** Whose breaker it is, for operators. */
export interface EndpointName {
  readonly tenant: { readonly tenantId: string };
  readonly ref: string;
  /** `https://host[:port]`; the path may be a secret. */
  readonly origin: string;
  readonly lastFailure: string;
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

export interface AdmissionStats {
  readonly busy: number;
  readonly queued: number;
  /** Endpoints it has something to remember about. */
  readonly endpoints: number;
  readonly open: number;
  readonly probing: number;
}

/** How full the queue in memory is; to be looked at before a record of the live topics is taken. */
export interface QueueRoom {
  readonly isFree: boolean;
  /** `call` is called each time there is room again after there was none. */
  onFree(call: () => void): void;
}

/** Lets deliveries to their endpoints, so that a slow or dead one costs only itself. One for each worker. */
export interface Admission {
  /** Start now, or be deferred: a promise only when it waits in memory, which lasts seconds at most. `last`: whatever the breaker says. */
  admit(task: DeliveryTask, target: SendTarget, last: boolean): Verdict | Promise<Verdict>;
  release(permit: Permit, end: PermitEnd): void;
  readonly room: QueueRoom;
  /** To be called by our own event loop each `TICK_MS`; what it counts are calls, not milliseconds. */
  tick(): void;
  /** The worker stops: from now on only endpoints known to be fast are attempted, so that what is under way ends soon. */
  drain(): void;
  stats(): AdmissionStats;
  /** All that it remembers. */
  endpoints(): Iterable<EndpointState>;
}
