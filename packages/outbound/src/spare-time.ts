/** What a millisecond counts in which our event loop was busy. */
const BUSY_COUNTS = 1 / 4;

/**
 * Milliseconds of a clock that goes four times slower while our event loop is busy: for how long something was waited for
 * that we were there to take.
 */
export function spareMs(): number {
  const { idle, active } = performance.eventLoopUtilization();
  return idle + active * BUSY_COUNTS;
}
