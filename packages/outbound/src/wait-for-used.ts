const FEW_CONNECTIONS = 8;
const MANY_CONNECTIONS = 32;
/** One that ends its attempts in a millisecond gets as many connections as the worker can use; with 1/16 a third fewer deliveries. */
const SOONER = 1 / 64;

const PACE_MS = 10;
/** Many configurations may share an origin: the more wait beyond this, the quicker. */
const WAITING_AT_PACE = 64;

/** From one further connection to an origin to the next, at least, in spare milliseconds (`spareMs`). */
export const paceMs = (waiting: number): number => PACE_MS * Math.min(1, WAITING_AT_PACE / waiting);

/** Whether these are so few that another one is opened at once, whatever it costs. */
export const areFew = (connections: number): boolean => connections < FEW_CONNECTIONS;

/**
 * How long an attempt waits for a used connection before another one is opened for it, in spare milliseconds (`spareMs`):
 * hardly, and `usedConnectionMs` when there are many connections to this origin.
 *
 * After a pause of ours (a collection, a late broker) hundreds of attempts start at once: a used connection is free again
 * within milliseconds, a new one costs both sides as much as ten posts, and opening them made half a second of a tenth.
 * While we have no time ourselves, it is answers that lie here unread that are waited for, and more connections only make
 * each post dearer: with 380 instead of 160 to ten quick endpoints a delivery took a fifth more CPU time. And an endpoint
 * that hangs is opened connections in vain: forty within 50 ms, for two of them, were all that both cores did.
 */
export const waitForUsed = (connections: number, usedConnectionMs: number): number =>
  connections < MANY_CONNECTIONS ? usedConnectionMs * SOONER : usedConnectionMs;
