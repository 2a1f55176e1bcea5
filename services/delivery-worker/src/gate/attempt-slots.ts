import type { GateRules } from './gate-types.js';
import type { Lane } from './lane.js';

/** An endpoint gets a quarter of what is free, a tenant twice of it ("dynamic thresholds", Choudhury and Hahne, 1998). */
const LANE_SHARE = 1 / 4;
const TENANT_SHARE = 2;
/**
 * An endpoint begins with a few. Each success adds one ("slow start", RFC 5681 §3.1), and each 100 ms, so that one that takes
 * seconds has all of them after five: each more may open a connection (a handshake, and 135 KiB). 48 of them at once for one
 * that hangs, and their time-outs at once, took the CPU time that its neighbours waited for.
 */
const FEW_SLOTS = 16;
const MORE_EVERY_MS = 100;
/**
 * What hangs opens connections in vain: an endpoint that ends nothing for so long, and for four times what its attempts took, is
 * where it began. That counts from when several were under way: one that hangs between two bursts is no sign of it.
 */
const QUIET_MS = 100;
const SEVERAL = 8;
/** Of an endpoint's slots, and of all: the rest is kept for first attempts, so that no backlog starves new events. */
const WAITED_SHARE = 7 / 8;
const ALL_WAITED_SHARE = 3 / 4;
/**
 * While no CPU time is left, endpoints get more than a few slots as if there were only so many of all: answers are late because
 * we are, so more attempts at once bring no more deliveries, and each may open one more connection. At ten quick endpoints
 * 270 connections instead of 640. A few stay a few, however many attempts hang elsewhere.
 */
const SATURATED_SHARE = 3 / 8;
/** Looks in a row that must find CPU time left before there are more slots again: one second of them. */
const CALM_LOOKS = 4;

/**
 * The attempts under way, and who may begin one. Because a share is of what is free, something is always left: twenty
 * endpoints that hang take 42 of 1,024 slots each and leave 170, a tenant alone takes 682.
 */
export class AttemptSlots {
  readonly #rules: Pick<GateRules, 'endpointConcurrency' | 'maxAttempts'>;
  #calmLooks = CALM_LOOKS;
  busy = 0;
  /** Of these, deliveries that have waited in Kafka. */
  #busyWaited = 0;

  constructor(rules: Pick<GateRules, 'endpointConcurrency' | 'maxAttempts'>) {
    this.#rules = rules;
  }

  /** To be called a few times each second. */
  note(saturated: boolean): void {
    this.#calmLooks = saturated ? 0 : this.#calmLooks + 1;
  }

  get free(): number {
    return this.#rules.maxAttempts - this.busy;
  }

  hasRoom(lane: Lane, now: number, waited: boolean): boolean {
    const { free } = this;
    if (free <= 0) return false;
    const ownLimit = Math.min(
      this.limitOf(lane, now),
      Math.max(1, free * LANE_SHARE),
      this.#limitWhileSaturated(),
    );
    if (lane.busy >= ownLimit || lane.tenant.busy >= Math.max(1, free * TENANT_SHARE)) return false;
    return !waited || this.#hasRoomForWaited(lane, now);
  }

  /** How many attempts may be under way at this endpoint, if there is enough for all; fewer while it ends none. */
  limitOf(lane: Lane, now: number): number {
    const stillMs = lane.busy < SEVERAL ? 0 : lane.stillFor(now, lane.severalSince);
    const isQuiet = stillMs > Math.max(QUIET_MS, lane.quietMs);
    const growingMs = isQuiet ? stillMs : now - lane.knownSince;
    const grown = (isQuiet ? 0 : lane.successes) + Math.floor(growingMs / MORE_EVERY_MS);
    return Math.min(FEW_SLOTS + grown, this.#rules.endpointConcurrency);
  }

  begin(lane: Lane, now: number, waited: boolean): void {
    lane.begin(now, waited);
    if (lane.busy === SEVERAL) lane.severalSince = now;
    lane.tenant.busy += 1;
    this.busy += 1;
    if (waited) this.#busyWaited += 1;
  }

  end(lane: Lane, now: number, waited: boolean): void {
    lane.end(now, waited);
    lane.tenant.busy -= 1;
    this.busy -= 1;
    if (waited) this.#busyWaited -= 1;
  }

  #limitWhileSaturated(): number {
    if (this.#calmLooks >= CALM_LOOKS) return Number.POSITIVE_INFINITY;
    return Math.max(FEW_SLOTS, (this.#rules.maxAttempts * SATURATED_SHARE - this.busy) * LANE_SHARE);
  }

  #hasRoomForWaited(lane: Lane, now: number): boolean {
    return (
      lane.busyWaited < Math.max(1, Math.floor(this.limitOf(lane, now) * WAITED_SHARE)) &&
      this.#busyWaited < this.#rules.maxAttempts * ALL_WAITED_SHARE
    );
  }
}
