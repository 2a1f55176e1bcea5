import type { Lane, Waiter } from './lane.js';

/** Takes the newest `count` out of both queues, those that have waited in Kafka first. Returns them oldest first. */
export function takeNewest(
  lane: Lane,
  count: number,
  isSpared: (waiter: Waiter) => boolean = () => false,
): readonly Waiter[] {
  const taken: Waiter[] = [];
  const spared: Waiter[] = [];
  for (let left = count; left > 0; left -= 1) {
    const waiter = lane.waited.pop() ?? lane.live.pop();
    if (waiter) (isSpared(waiter) ? spared : taken).push(waiter);
  }
  for (const waiter of spared.reverse()) lane.waited.push(waiter);
  return taken.reverse();
}

/** Takes the newest `count` of the first attempts. Returns them oldest first. */
export function takeNewestLive(lane: Lane, count: number): readonly Waiter[] {
  const taken: Waiter[] = [];
  for (let left = count; left > 0; left -= 1) {
    const waiter = lane.live.pop();
    if (waiter) taken.push(waiter);
  }
  return taken.reverse();
}

/** Takes those that were queued before `at` (monotonic milliseconds). Returns the oldest of each queue first. */
export function takeQueuedBefore(lane: Lane, at: number): readonly Waiter[] {
  const taken: Waiter[] = [];
  for (const queue of [lane.live, lane.waited]) {
    for (let head = queue.peekFront(); head && head.since < at; head = queue.peekFront()) {
      taken.push(head);
      queue.shift();
    }
  }
  return taken;
}
