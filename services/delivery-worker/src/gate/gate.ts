import type { DeliveryTask } from '@webhooks/contracts';
import type { SendTarget } from '@webhooks/outbound';
import Denque from 'denque';
import { AttemptSlots } from './attempt-slots.js';
import { findHog } from './find-hog.js';
import type {
  Gate,
  GateRules,
  GateStats,
  Later,
  LaterReason,
  Pass,
  PassEnd,
  UnhealthyEndpoint,
  Verdict,
} from './gate-types.js';
import type { Lane, Waiter } from './lane.js';
import { LaneTable } from './lane-table.js';
import { learn } from './learn.js';
import { Leave } from './leave.js';
import { ORDINARY, SATURATED, longestWait } from './patience.js';
import { Room } from './room.js';
import { QuietRule } from './quiet-rule.js';
import { claimOf } from './claim.js';
import type { Claim } from './claim.js';
import { HUNG_MS, reservationOf, spanAfterProbe, spanWhenBusy, waitForProbe } from './come-back.js';
import { listUnhealthy } from './list-unhealthy.js';
import { takeNewest, takeNewestLive, takeQueuedBefore } from './take-waiters.js';

/** Deliveries that come back from Kafka and wait for a slot of their endpoint: half of the window that reads them. */
const MAX_WAITED_QUEUE = 500;
/** A slot in so many goes to one that has waited in Kafka while first attempts want it, too. */
const WAITED_TURN = 8;
/** Lanes looked at when a slot becomes free: the cost of fairness for each attempt is bounded. */
const WAKE_LANES = 4;
/** Who gives way is looked for once in so many entries above the limit. */
const HOG_EVERY = 64;

export function createGate(rules: GateRules, now: () => number = () => performance.now()): Gate {
  return new EndpointGate(rules, now);
}

const SPARES_LAST: ReadonlySet<LaterReason> = new Set(['breaker', 'leaving']);

class EndpointGate implements Gate {
  readonly #rules: GateRules;
  readonly #now: () => number;
  readonly #table: LaneTable;
  readonly #slots: AttemptSlots;
  /** Lanes with a queue, in turn. */
  readonly #ring = new Denque<Lane>();
  readonly room: Room;
  #patience = ORDINARY;
  readonly #leave = new Leave();
  #entries = 0;
  readonly #quiet = new QuietRule();

  constructor(rules: GateRules, now: () => number) {
    this.#rules = rules;
    this.#now = now;
    this.#table = new LaneTable(rules);
    this.#slots = new AttemptSlots(rules);
    this.room = new Room(2 * rules.queueLimit);
  }

  enter(task: DeliveryTask, target: SendTarget, last: boolean): Verdict | Promise<Verdict> {
    const now = this.#now();
    const lane = this.#table.of(task.tenantId, task.ref, target, now);
    const claim = claimOf(task, last);
    const { waited } = claim;
    if (!last && this.#isLeftAside(lane, now)) return this.#later(lane, 'leaving', claim);
    if (lane.breaker.isOpen && !last) return this.#probe(lane, now, claim);
    if (lane.isNext(waited) && this.#slots.hasRoom(lane, now, waited)) return this.#pass(lane, now, waited);
    if (this.#mayQueue(lane, now, waited)) return this.#queue(lane, now, claim);
    return this.#later(lane, 'busy', claim);
  }

  leave(pass: Pass, end: PassEnd): void {
    const now = this.#now();
    const { lane, waited } = pass;
    this.#slots.end(lane, now, waited);
    this.#quiet.ended(lane, now);
    this.#table.release(lane);
    const turned = pass.epoch === lane.epoch ? learn(pass, end, now) : undefined;
    if (turned) this.#rules.onBreaker?.(turned, lane);
    if (turned === 'opened') this.#park(lane, lane.queued, 'breaker');
    this.#startNext(lane, now);
    for (let looked = 0; looked < WAKE_LANES && this.#ring.length > 0; looked += 1) this.#turnRing(now);
    this.room.tell();
  }

  note(saturated: boolean): void {
    this.#patience = saturated ? SATURATED : ORDINARY;
    this.#slots.note(saturated);
    this.room.limit = saturated ? this.#rules.queueLimit / 2 : 2 * this.#rules.queueLimit;
  }

  sweep(): void {
    const now = this.#now();
    this.#quiet.swept(now);
    for (let lanes = this.#ring.length; lanes > 0; lanes -= 1) {
      const lane = this.#ring.peekFront();
      if (lane) {
        this.#leaveRoom(lane, now);
        this.#endLongWaits(lane, now);
        while (this.#startNext(lane, now));
      }
      this.#turnRing(now);
    }
    this.room.tell();
    this.#table.forgetIdle(now);
  }

  onlyFast(): void {
    const now = this.#now();
    this.#leave.begin(now);
    for (const lane of this.#ring.toArray()) this.#endLongWaits(lane, now);
  }

  stats(): GateStats {
    const { busy } = this.#slots;
    return { busy, queued: this.#table.held - busy, lanes: this.#table.size, ...this.#table.breakers() };
  }

  unhealthy(limit: number): readonly UnhealthyEndpoint[] {
    return listUnhealthy(this.#table.values(), this.#now(), limit);
  }

  #probe(lane: Lane, now: number, claim: Claim): Verdict {
    const probe = this.#slots.free > 0 ? lane.breaker.startProbe(now, claim.waited) : undefined;
    return probe === undefined
      ? this.#later(lane, 'breaker', claim)
      : this.#pass(lane, now, claim.waited, probe);
  }

  #mayQueue(lane: Lane, now: number, waited: boolean): boolean {
    const held = { freeShare: this.room.freeShare, queueing: this.#ring.length };
    const maxWaitMs = longestWait(this.#patience, held, lane.busyFor(now));
    if (this.#isStuck(lane, now) || lane.expectedWaitMs(this.#slots.limitOf(lane, now)) > maxWaitMs)
      return false;
    if (waited) return lane.waited.length < MAX_WAITED_QUEUE;
    return this.#excess(lane, now) < 0;
  }

  /** Alone it takes room from nobody. */
  #excess(lane: Lane, now: number): number {
    return this.#table.lanes > 1 ? this.#quiet.excess(lane, now, this.#patience, this.room) : -Infinity;
  }

  #leaveRoom(lane: Lane, now: number): void {
    this.#sendAway(lane, takeNewestLive(lane, this.#excess(lane, now)), 'busy');
  }

  #isLeftAside(lane: Lane, now: number): boolean {
    return this.#leave.passesOver(lane, now, this.#patience.fastMs);
  }

  #isStuck(lane: Lane, now: number): boolean {
    const { stuckMs, silentMs } = this.#patience;
    lane.isStuck ||= lane.isStill(now, lane.hasAnswered ? stuckMs : silentMs);
    return lane.isStuck;
  }

  #pass(lane: Lane, now: number, waited: boolean, probe?: number): Pass {
    this.#table.hold(lane);
    return this.#begin(lane, now, waited, probe);
  }

  #begin(lane: Lane, now: number, waited: boolean, probe?: number): Pass {
    this.#slots.begin(lane, now, waited);
    return { kind: 'pass', lane, epoch: lane.epoch, waited, probe };
  }

  #queue(lane: Lane, now: number, claim: Claim): Promise<Verdict> {
    return new Promise((resolve) => {
      this.#table.hold(lane);
      (claim.waited ? lane.waited : lane.live).push({ resolve, since: now, claim });
      if (!claim.waited) this.room.enter();
      if (!lane.inRing) this.#ring.push(lane);
      lane.inRing = true;
      this.#entries += 1;
      if (this.#table.held - this.#slots.busy >= this.#rules.queueLimit && this.#entries % HOG_EVERY === 0)
        this.#giveWay();
    });
  }

  /** The newest half of a queue, because the oldest ones are next to be served. */
  #giveWay(): void {
    const queueing = this.#ring.toArray().filter(({ queued }) => queued > 0);
    for (const lane of findHog(queueing, this.#table)) this.#park(lane, Math.ceil(lane.queued / 2), 'share');
  }

  /** The newest `count` of a lane's queue; a last attempt is made whatever is known of the endpoint. */
  #park(lane: Lane, count: number, reason: LaterReason): void {
    const spares = SPARES_LAST.has(reason) ? ({ claim }: Waiter) => claim.last : undefined;
    this.#sendAway(lane, takeNewest(lane, count, spares), reason);
  }

  /** Oldest first: their slots are reserved in the order they came. */
  #sendAway(lane: Lane, leaving: readonly Waiter[], reason: LaterReason): void {
    if (leaving.length === 0) return;
    this.#table.release(lane, leaving.length);
    for (const { resolve, claim } of leaving) {
      if (!claim.waited) this.room.leave();
      resolve(this.#later(lane, reason, claim));
    }
  }

  #later(lane: Lane, reason: LaterReason, claim: Claim): Later {
    const now = this.#now();
    const { breaker: rules, endpointConcurrency } = this.#rules;
    const isDown = reason === 'breaker';
    const isHung = reason === 'busy' && lane.isStill(now, HUNG_MS);
    const span = isDown ? spanAfterProbe(lane.breaker, rules, claim, now) : spanWhenBusy(claim, now, isHung);
    const waitMs = lane.reserve(reservationOf(claim, isHung), span, endpointConcurrency, now) - now;
    return { kind: 'later', reason, waitMs: isDown ? waitForProbe(waitMs, claim) : waitMs };
  }

  /** First attempts go first, but one slot in eight is for those that have waited. */
  #startNext(lane: Lane, now: number): boolean {
    const [first, second] =
      lane.turns % WAITED_TURN === WAITED_TURN - 1 ? [lane.waited, lane.live] : [lane.live, lane.waited];
    return this.#startFrom(first, lane, now) || this.#startFrom(second, lane, now);
  }

  #startFrom(queue: Denque<Waiter>, lane: Lane, now: number): boolean {
    const waiter = queue.peekFront();
    if (waiter === undefined || !this.#slots.hasRoom(lane, now, waiter.claim.waited)) return false;
    queue.shift();
    if (!waiter.claim.waited) this.room.leave();
    lane.turns += 1;
    waiter.resolve(this.#begin(lane, now, waiter.claim.waited));
    return true;
  }

  #turnRing(now: number): void {
    const lane = this.#ring.shift();
    if (lane === undefined) return;
    this.#startNext(lane, now);
    lane.inRing = lane.queued > 0;
    if (lane.inRing) this.#ring.push(lane);
  }

  #endLongWaits(lane: Lane, now: number): void {
    if (this.#isLeftAside(lane, now)) return this.#park(lane, lane.queued, 'leaving');
    if (this.#isStuck(lane, now)) return this.#park(lane, lane.queued, 'busy');
    this.#sendAway(lane, takeQueuedBefore(lane, now - this.#patience.queueMs), 'busy');
  }
}
