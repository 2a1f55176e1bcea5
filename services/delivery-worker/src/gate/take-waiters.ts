import type { Lane, Waiter } from './lane.js';

/** At most `count`, newest first; a negative count is none. */
function popOften(pop: () => Waiter | undefined, count: number): Waiter[] {
  const popped: Waiter[] = [];
  for (let left = count; left > 0; left -= 1) {
    const waiter = pop();
    if (waiter === undefined) break;
    popped.push(waiter);
  }
  return popped;
}

/** Takes the newest `count` out of both queues, those that have waited in Kafka first. Returns them oldest first. */
export function takeNewest(
  lane: Lane,
  count: number,
  isSpared: (waiter: Waiter) => boolean = () => false,
): readonly Waiter[] {
  const newest = popOften(() => lane.waited.pop() ?? lane.live.pop(), count).reverse();
  const taken: Waiter[] = [];
  for (const waiter of newest) {
    if (isSpared(waiter)) lane.waited.push(waiter);
    else taken.push(waiter);
  }
  return taken;
}

/** Takes the newest `count` of the first attempts. Returns them oldest first. */
export const takeNewestLive = ({ live }: Lane, count: number): readonly Waiter[] =>
  popOften(() => live.pop(), count).reverse();

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
