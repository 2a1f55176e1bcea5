const FEW_CONNECTIONS = 8;
const MANY_CONNECTIONS = 32;
/** One that ends its attempts in a millisecond gets as many connections as the worker can use; with 1/16 a third fewer deliveries. */
const SOONER = 1 / 64;

const PACE_MS = 10;
/** Many configurations may share an origin: the more wait beyond this, the quicker. */
const WAITING_AT_PACE = 64;

/** What is known when attempts wait for a connection to one origin; times in spare milliseconds (`spareMs`). */
export interface Shortage {
  /** Connections that may carry a further attempt, among them those whose handshake is under way. */
  readonly usable: number;
  /** Attempts that wait. */
  readonly waiting: number;
  /** For how long the one has waited that would get the next connection. */
  readonly waitedMs: number;
  /** Since the handshake before was begun. */
  readonly begunAgoMs: number;
}

/** From one further connection to the next: the more attempts wait, the quicker. */
const paceMs = (waiting: number): number => PACE_MS * Math.min(1, WAITING_AT_PACE / waiting);

const waitMs = (usable: number, usedConnectionMs: number): number =>
  usable < MANY_CONNECTIONS ? usedConnectionMs * SOONER : usedConnectionMs;

/**
 * In how many spare milliseconds a further connection is to be opened, 0 or less: now. A few are opened at once. Then an
 * attempt waits for a used one first: hardly, and `usedConnectionMs` when there are many; and further ones have a pace.
 *
 * After a pause of ours (a collection, a late broker) hundreds of attempts start at once: a used connection is free again
 * within milliseconds, a new one costs both sides as much as ten posts, and opening them made half a second of a tenth.
 * While we have no time ourselves, it is answers that lie here unread that are waited for, and more connections only make
 * each post dearer: with 380 instead of 160 to ten quick endpoints a delivery took a fifth more CPU time. And an endpoint
 * that hangs is opened connections in vain: forty within 50 ms, for two of them, were all that both cores did.
 */
export const untilFurther = (
  { usable, waiting, waitedMs, begunAgoMs }: Shortage,
  usedConnectionMs: number,
): number =>
  usable < FEW_CONNECTIONS
    ? 0
    : Math.max(waitMs(usable, usedConnectionMs) - waitedMs, paceMs(waiting) - begunAgoMs);
