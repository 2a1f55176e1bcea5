const MAX_SECONDS = 10 * 86_400;

/** The three forms that a reader of HTTP dates must know (RFC 9110 §5.6.7), of which the last names no zone. `Date.parse` also takes `-1` and `2030`. */
const HTTP_DATE =
  /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} [\d:]{8} GMT$|^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/;

/** Unix milliseconds of an HTTP date; `NaN` when it is none. */
function parseHttpDate(text: string): number {
  if (!HTTP_DATE.test(text)) return NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}

/**
 * `Retry-After` as a wait in milliseconds (RFC 9110 §10.2.3), seconds or a date, 10 days at most; 0 when it says nothing
 * usable: empty, negative, a fraction, a moment that is past. The sender gives 64 characters at most.
 */
export function retryAfterMs(value: string | undefined, now: number): number {
  const text = value?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - now;
  return Math.min(Math.max(0, waitMs || 0), MAX_SECONDS * 1_000);
}
