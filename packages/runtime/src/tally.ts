/** Between two numbers, in milliseconds. */
const AGAIN_MS = 10_000;

/**
 * For a line in the log of what may happen thousands of times a second. To be called each time; gives how many there
 * were since it last gave a number: at the first one at once, then at most once in 10 s, undefined in between. `now` in
 * milliseconds of a clock that never goes back.
 */
export function createTally(now: () => number): () => number | undefined {
  let [count, toldAt] = [0, -Infinity];
  return () => {
    count += 1;
    const at = now();
    if (at - toldAt < AGAIN_MS) return undefined;
    const told = count;
    [count, toldAt] = [0, at];
    return told;
  };
}

/** A tally for each of a bounded set of words. */
export function createTallies(now: () => number): (word: string) => number | undefined {
  const tallies = new Map<string, () => number | undefined>();
  return (word) => {
    const tally = tallies.get(word) ?? createTally(now);
    tallies.set(word, tally);
    return tally();
  };
}
