/**
 * Microseconds of the machine's monotonic clock. All processes of one machine share its zero, so a time taken by the
 * generator can be held against one taken by a receiver; it never jumps. (`performance.now` has a zero of its own in each
 * process, and what was tried to align them was off by 2 ms.)
 */
export const monotonicMicros = (): number => Number(process.hrtime.bigint()) / 1_000;
