const FIRST_MS = 100;
const LONGEST_MS = 1_000;

/**
 * Milliseconds to wait after so many failures in a row (from 1 on): 100, doubling to `longestMs`. A half to all of that, so
 * that many clients do not come back as one ("equal jitter", AWS Architecture Blog, 2015).
 */
export function backoffMs(failures: number, longestMs = LONGEST_MS): number {
  const plainMs = Math.min(FIRST_MS * 2 ** (failures - 1), longestMs);
  return (plainMs * (1 + Math.random())) / 2;
}
