const MAX_SECONDS = 10 * 86_400;
const MAX_TEXT = 64;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The three forms that a reader of HTTP dates must know (RFC 9110 §5.6.7). `Date.parse` also takes `-1` and `2030`. */
const DATE_FORMS = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/** A year of two digits that would be more than 50 years ahead is one of the century before (RFC 9110 §5.6.7). */
function fullYear(text: string, now: number): number {
  if (text.length === 4) return Number(text);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(text);
  return year > thisYear + 50 ? year - 100 : year;
}

/** Milliseconds since midnight; undefined for an hour that does not exist. A leap second does. */
function parseTime(text: string): number | undefined {
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number);
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  return ((hour * 60 + minute) * 60 + second) * 1_000;
}

/** Unix milliseconds of the midnight that begins a day; undefined for a day that does not exist. */
function parseDay(year: number, month: string, day: number): number | undefined {
  const midnight = Date.UTC(year, MONTHS.indexOf(month), day);
  return MONTHS.includes(month) && new Date(midnight).getUTCDate() === day ? midnight : undefined;
}

/** Unix milliseconds of an HTTP date; undefined when it is none. */
function parseHttpDate(text: string, now: number): number | undefined {
  const groups = DATE_FORMS.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  const { day, month, year, time } = groups ?? {};
  if (day === undefined || month === undefined || year === undefined || time === undefined) return undefined;
  const midnight = parseDay(fullYear(year, now), month, Number(day));
  const sinceMidnight = parseTime(time);
  return midnight === undefined || sinceMidnight === undefined ? undefined : midnight + sinceMidnight;
}

/**
 * `Retry-After` as a wait in milliseconds (RFC 9110 §10.2.3), seconds or a date, 10 days at most; 0 when it says nothing
 * usable: empty, negative, a fraction, a moment that is past, more than 64 characters.
 */
export function retryAfterMs(value: string | undefined, now: number): number {
  const text = value?.trim() ?? '';
  if (text.length > MAX_TEXT) return 0;
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_SECONDS) * 1_000;
  const date = parseHttpDate(text, now);
  return date === undefined ? 0 : Math.min(Math.max(0, date - now), MAX_SECONDS * 1_000);
}
