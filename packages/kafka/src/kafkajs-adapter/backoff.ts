/** 100 ms, doubling to `maxMs`, ±20 % so that many clients do not come back as one. */
export function backoffMs(failures: number, maxMs = 1_000): number {
  const plainMs = Math.min(100 * 2 ** Math.min(failures - 1, 16), maxMs);
  return plainMs * (0.8 + Math.random() * 0.4);
}
