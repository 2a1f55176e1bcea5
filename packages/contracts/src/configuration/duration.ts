const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Parses a duration such as `500ms`, `5s`, `2m`, `12h` or `8d`. Returns milliseconds. Throws with the expected form.
 */
export function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const factor = UNITS[unit ?? ''];
  if (factor === undefined) throw new Error('expected a duration such as 500ms, 5s, 2m, 12h or 8d');
  return Number(amount) * factor;
}

/** Parses a duration from 1 s to less than 2^31 s, the limit of a TTL index in MongoDB. Returns milliseconds. */
export function parseLongDuration(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs < 1_000 || durationMs >= 2 ** 31 * 1_000)
    throw new Error('expected at least 1s and at most 24855d');
  return durationMs;
}

/** A shorter delay would be below the latency of Kafka and of timers. */
const MIN_DELAY_MS = 10;
const MAX_DELAY_MS = 7 * 86_400_000;
const MAX_DELAYS = 50;

/**
 * Parses a retry schedule such as `5s,30s,2m`: 1 to 50 delays of 10 ms to 7 days. Returns milliseconds. Throws with the
 * expected form.
 */
export function parseDelays(text: string): readonly number[] {
  const delays = text.split(',').map(parseDuration);
  if (delays.length > MAX_DELAYS || delays.some((delay) => delay < MIN_DELAY_MS || delay > MAX_DELAY_MS)) {
    throw new Error('expected at most 50 delays of 10 ms to 7 days each');
  }
  return delays;
}
