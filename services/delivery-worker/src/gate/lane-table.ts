import type { SendTarget } from '@webhooks/outbound';
import type { GateRules } from './gate-types.js';
import type { Holdings } from './find-hog.js';
import { Lane } from './lane.js';
import type { TenantShare } from './lane.js';

/** Endpoints that are remembered; beyond it the idle ones go, failing or not: an open breaker then costs ten attempts again. */
const MAX_LANES = 100_000;
const HEALTHY_IDLE_MS = 60_000;
const FAILING_IDLE_MS = 3_600_000;
const FORGET_EVERY_MS = 10_000;

type LaneRules = Pick<GateRules, 'breaker' | 'isEnabled'>;

/** The lanes by (tenant, ref), and what is held in all of them together. Idle ones are forgotten. */
export class LaneTable implements Holdings {
  readonly #rules: LaneRules;
  readonly #lanes = new Map<string, Lane>();
  readonly #tenants = new Map<string, TenantShare>();
  held = 0;
  /** Those that hold something. */
  lanes = 0;
  tenants = 0;
  #forgotAt = -Infinity;

  constructor(rules: LaneRules) {
    this.#rules = rules;
  }

  get size(): number {
    return this.#lanes.size;
  }

  /** How many breakers are not closed. */
  breakers(): { readonly open: number; readonly probing: number } {
    const states = { closed: 0, open: 0, probing: 0 };
    for (const { breaker } of this.values()) states[breaker.state] += 1;
    return { open: states.open, probing: states.probing };
  }

  values(): Iterable<Lane> {
    return this.#lanes.values();
  }

  of(tenantId: string, ref: string, target: SendTarget, now: number): Lane {
    const key = `${tenantId}/${ref}`;
    const lane = this.#lanes.get(key) ?? this.#open({ key, ref, tenantId }, target, now);
    lane.use(target, now);
    return lane;
  }

  /** Before the lane's own count grows. */
  hold(lane: Lane): void {
    if (lane.held === 0) this.lanes += 1;
    if (lane.tenant.held === 0) this.tenants += 1;
    lane.tenant.held += 1;
    this.held += 1;
  }

  /** After the lane's own count has shrunk by `count`. */
  release(lane: Lane, count = 1): void {
    lane.tenant.held -= count;
    this.held -= count;
    if (lane.held === 0) this.lanes -= 1;
    if (lane.tenant.held === 0) this.tenants -= 1;
  }

  /** Looks at all of them once in a while, however often it is called. */
  forgetIdle(now: number): void {
    if (now - this.#forgotAt < FORGET_EVERY_MS) return;
    this.#forgotAt = now;
    for (const lane of this.#lanes.values()) {
      if (lane.held === 0 && now - lane.usedAt > this.#keepMs(lane)) this.#forget(lane);
    }
  }

  #keepMs({ breaker, tenant, ref }: Lane): number {
    if (breaker.failures === 0) return HEALTHY_IDLE_MS;
    return this.#rules.isEnabled?.(tenant.tenantId, ref) === false ? 0 : FAILING_IDLE_MS;
  }

  #open(owner: { key: string; ref: string; tenantId: string }, target: SendTarget, now: number): Lane {
    if (this.#lanes.size >= MAX_LANES) this.#makeRoom();
    const { tenantId } = owner;
    const tenant = this.#tenants.get(tenantId) ?? { tenantId, lanes: 0, busy: 0, held: 0 };
    tenant.lanes += 1;
    this.#tenants.set(tenantId, tenant);
    const lane = new Lane({ key: owner.key, ref: owner.ref, tenant }, target, this.#rules.breaker, now);
    this.#lanes.set(owner.key, lane);
    return lane;
  }

  /** An eighth in one pass, those opened first: so that a flood of endpoints does not pay a pass each. */
  #makeRoom(): void {
    const wanted = MAX_LANES - MAX_LANES / 8;
    for (const lane of this.#lanes.values()) {
      if (this.#lanes.size <= wanted) return;
      if (lane.held === 0) this.#forget(lane);
    }
  }

  #forget(lane: Lane): void {
    this.#lanes.delete(lane.key);
    lane.tenant.lanes -= 1;
    if (lane.tenant.lanes === 0) this.#tenants.delete(lane.tenant.tenantId);
  }
}
