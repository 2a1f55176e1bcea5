import type { DeliveryTask } from '@webhooks/contracts';
import type { SendTarget } from '@webhooks/outbound';
import type { BreakerRules } from './breaker.js';
import type { Lane } from './lane.js';
import type { Room } from './room.js';

export interface GateRules {
  /** Attempts under way at one endpoint. */
  readonly endpointConcurrency: number;
  /** Attempts under way at all endpoints together. */
  readonly maxAttempts: number;
  /**
   * Deliveries queued in memory above which the one who holds most gives way, if there are others. At twice as many first
   * attempts no record of the live topics is taken; at half of it, when CPU time is what is missing.
   */
  readonly queueLimit: number;
  readonly breaker: BreakerRules;
  /** Whether anything may be sent there at all: operators are not told of one that fails and was disabled. Default: it may. */
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

/** The right to make one attempt now; given back with `leave`, exactly once. */
export interface Pass {
  readonly kind: 'pass';
  readonly lane: Lane;
  readonly epoch: number;
  readonly waited: boolean;
  /** The opening of the breaker that it probes. */
  readonly probe: number | undefined;
}

/**
 * Why a delivery is parked: its endpoint is known to be down (`breaker`), does less than it is sent (`busy`), holds more
 * of this worker than others (`share`), or is not known to be fast while the worker leaves (`leaving`).
 */
export type LaterReason = 'breaker' | 'busy' | 'share' | 'leaving';

export interface Later {
  readonly kind: 'later';
  readonly reason: LaterReason;
  /** From now, milliseconds. */
  readonly waitMs: number;
}

export type Verdict = Pass | Later;

/** How the attempt ended that a pass was given for. */
export type PassEnd =
  | { readonly kind: 'succeeded'; readonly durationMs: number }
  /** `label` is for operators: a status or an error class. */
  | { readonly kind: 'failed'; readonly durationMs: number; readonly label: string }
  /** None was made. */
  | { readonly kind: 'unmade' };

export interface GateStats {
  readonly busy: number;
  readonly queued: number;
  /** Endpoints it has something to remember about. */
  readonly lanes: number;
  readonly open: number;
  readonly probing: number;
}

/** An endpoint whose last attempts all failed. */
export interface UnhealthyEndpoint {
  readonly tenantId: string;
  readonly ref: string;
  /** `https://host[:port]`. */
  readonly origin: string;
  readonly state: 'closed' | 'open' | 'probing';
  readonly failuresInARow: number;
  readonly lastFailure: string;
  /** Unix milliseconds. */
  readonly since: number;
  /** Milliseconds until the next probe, 0 when it is due; absent while the breaker is closed. */
  readonly probeInMs?: number;
}

/** Lets deliveries to their endpoints, so that a slow or dead one costs only itself. One for each worker. */
export interface Gate {
  /**
   * Now, or at what time: a promise only when it waits in memory for a slot, which lasts seconds at most.
   * `last`: the attempt is made whatever the breaker says.
   */
  enter(task: DeliveryTask, target: SendTarget, last: boolean): Verdict | Promise<Verdict>;
  leave(pass: Pass, end: PassEnd): void;
  /** To be looked at before a record of the live topics is taken. */
  readonly room: Pick<Room, 'isFree' | 'onFree'>;
  /** Ends waits that have become too long and forgets what is idle. To be called about twenty times each second. */
  sweep(): void;
  /**
   * To be called four times each second; `saturated`: there is no CPU time left, so that slow answers say little about the
   * endpoints.
   */
  note(saturated: boolean): void;
  /** The worker leaves: from now on only endpoints known to be fast are attempted, so that what is under way ends soon. */
  onlyFast(): void;
  stats(): GateStats;
  /** The longest failing first, at most `limit`. */
  unhealthy(limit: number): readonly UnhealthyEndpoint[];
}
