/** The zone of this machine, in which every time is shown, and typed without another one. */
export const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns a time of this machine's zone in RFC 3339, such as `2026-11-21T14:03:27-03:00`. */
export function localTime(at: Date): string {
  const local = at.toLocaleString('sv', { dateStyle: 'short', timeStyle: 'medium' }).replace(' ', 'T');
  const [, offset] = /GMT(.*)/.exec(at.toLocaleString('en', { timeZoneName: 'longOffset' })) ?? [];
  return local + (offset || 'Z');
}

const FORM = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?))?$/;

/**
 * Parses a typed date or time; a time alone, such as `14:03`, is today's. Without a zone it is this machine's. Returns RFC 3339 in UTC.
 * Throws for any other text, and for a day that does not exist: `Date.parse` would read 30 February as 2 March.
 */
function timeOf(text: string): string {
  const dated = /^\d\d:/.test(text) ? `${new Date().toLocaleDateString('sv')}T${text}` : text;
  const [, date = '', time = '00:00'] = FORM.exec(dated) ?? [];
  const ms = Date.parse(`${date}T${time}`);
  if (Number.isNaN(ms) || !JSON.stringify(new Date(date)).includes(date))
    throw new Error(`${text} is no time; write 14:03, 2026-11-21 or 2026-11-21T14:00:00Z`);
  return new Date(ms).toISOString();
}

const TIME = { type: 'string', coerce: timeOf } as const;
export const FROM = {
  ...TIME,
  describe: `Since this time: 14:03 (today), 2026-11-21, 2026-11-21T14:03; of ${zone()}, or with a zone: …T14:03Z`,
} as const;
export const TO = { ...TIME, describe: 'Until this time, in the same form' } as const;
