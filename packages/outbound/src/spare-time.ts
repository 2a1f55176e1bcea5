/** What a millisecond counts in which our event loop was busy. */
const BUSY_COUNTS = 1 / 4;
/** Each post asks: what it is told is an object of 200 bytes, a fiftieth of all that a delivery allocates. */
const LOOK_EVERY_MS = 0.25;

let lookedAt = -Infinity;
let counted = 0;

/**
 * Milliseconds of a clock that goes four times slower while our event loop is busy: for how long something was waited for
 * that we were there to take. Up to a quarter of a millisecond behind.
 */
export function spareMs(): number {
  const now = performance.now();
  if (now - lookedAt < LOOK_EVERY_MS) return counted;
  lookedAt = now;
  const { idle, active } = performance.eventLoopUtilization();
  counted = idle + active * BUSY_COUNTS;
  return counted;
}
