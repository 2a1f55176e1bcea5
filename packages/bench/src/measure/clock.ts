/**
 * Microseconds of the machine's monotonic clock. All processes of one machine share its zero, so a time taken by the
 * generator can be compared with one taken by the receiver. It never jumps. (`performance.now` has a zero of its own in
 * each process.)
 */
export const monotonicMicros = (): number => Number(process.hrtime.bigint()) / 1_000;
