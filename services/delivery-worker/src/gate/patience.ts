/** While the worker leaves: who ends its attempts within this, milliseconds, is fast. */
export const FAST_MS = 500;

/** How long deliveries wait in memory for a slow endpoint before they are parked; milliseconds. */
export interface Patience {
  /** An endpoint that ends no attempt for so long, while others do, keeps no more than a share of a crowded room. */
  readonly quietMs: number;
  /** The same for one whose attempts take long, or has answered while no other answers either; nobody is given longer. */
  readonly longQuietMs: number;
  /** An endpoint that ends no attempt for so long is stuck: nothing is queued for it. */
  readonly stuckMs: number;
  /** The same for one that has not answered yet: several in a row that hang hold up the live topics for so long each. */
  readonly silentMs: number;
  /** Nobody is queued for longer: it would hold up the commits of a partition (whose span is made for 12 s). */
  readonly queueMs: number;
  /** The same when the room is half full; less the fuller it is, so that it never fills up with what waits for slow ones. */
  readonly crowdedMs: number | undefined;
  /** While the worker leaves: who ends its attempts within this is fast. */
  readonly fastMs: number;
}

export const ORDINARY: Patience = {
  quietMs: 150,
  longQuietMs: 150,
  stuckMs: 1_000,
  silentMs: 1_000,
  queueMs: 2_000,
  crowdedMs: 500,
  fastMs: FAST_MS,
};
/** When CPU time is what is missing, parking only adds work: a burst of 8,000 was parked twice over when measured. */
export const SATURATED: Patience = {
  quietMs: 300,
  longQuietMs: 3_000,
  stuckMs: 3_000,
  silentMs: 1_500,
  queueMs: 5_000,
  crowdedMs: undefined,
  fastMs: 2_000,
};

/**
 * Whoever may expect to be served within this, divided by the endpoints with a queue, may wait however full the room is:
 * parked it would come a second later, for twice the work. One endpoint of 5,000 answers a second or more may fill the room so,
 * and has read it empty by then; of two each needs as much.
 */
const SHORT_MS = 100;

/**
 * How long whoever comes now may expect to wait, with this share of the room free and so many endpoints with a queue, for
 * one that has been busy for so long. A second is for opening connections: how long first attempts take says little about
 * the next ones.
 */
export function longestWait(
  { stuckMs, queueMs, crowdedMs }: Patience,
  { freeShare, queueing }: { readonly freeShare: number; readonly queueing: number },
  busyMs: number,
): number {
  const isCrowded = crowdedMs !== undefined && freeShare <= 0.5 && busyMs > stuckMs;
  return isCrowded ? Math.max(SHORT_MS / Math.max(1, queueing), 2 * freeShare * crowdedMs) : queueMs;
}
