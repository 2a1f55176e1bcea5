import type { Lane } from './lane.js';
import type { Patience } from './patience.js';
import type { Room } from './room.js';

/** From here on what does not move leaves room to others. */
const CROWDED_SHARE = 0.5;

/**
 * How many of an endpoint's queued first attempts are too many, because it ends no attempt (see `Lane.isQuiet`) and the room is more than half
 * full: the sources of all live topics stop when it is full. Negative as long as one more may queue.
 */
export function quietExcess(lane: Lane, now: number, patience: Patience, room: Room): number {
  const { quietMs, longQuietMs } = patience;
  if (room.freeShare >= CROWDED_SHARE || !lane.isQuiet(now, quietMs, longQuietMs)) return -Infinity;
  return lane.live.length - room.quietShare(lane.live.length);
}
