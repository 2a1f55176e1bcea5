/** Between two lines, in milliseconds. */
const AGAIN_MS = 10_000;

/** Writes the line with how many there were since the one before it. */
type Tell = (count: number) => void;

/**
 * For a line in the log of what may happen thousands of times a second. To be called each time: it tells at the first one
 * at once, then at most once in 10 s. `now` in milliseconds of a clock that never goes back.
 */
export function createLogThrottle(now = () => performance.now()): (tell: Tell) => void {
  let [count, toldAt] = [0, -Infinity];
  return (tell) => {
    count += 1;
    const at = now();
    if (at - toldAt < AGAIN_MS) return;
    const told = count;
    [count, toldAt] = [0, at];
    tell(told);
  };
}

/** A tally for each of a bounded set of words. */
export function createLogThrottles(): (word: string, tell: Tell) => void {
  const throttles = new Map<string, (tell: Tell) => void>();
  return (word, tell) => {
    const throttle = throttles.get(word) ?? createLogThrottle();
    throttles.set(word, throttle);
    throttle(tell);
  };
}
