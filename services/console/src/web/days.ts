export const ZONE = 'America/Sao_Paulo';
/** São Paulo has had no summer time since 2019. */
export const OFFSET = '-03:00';
export const DAY_MS = 86_400_000;

const iso = new Intl.DateTimeFormat('sv', { timeZone: ZONE });

/** The day in São Paulo at a time, such as `2026-11-21`. */
export const dayIn = (at: number): string => iso.format(at);

/** The day before; the noon of a day is on the same day in any zone. */
export const dayBefore = (day: string): string => dayIn(Date.parse(`${day}T15:00:00Z`) - DAY_MS);

/** The newest day of a month, such as `2026-11`, that has begun. */
export function lastDayOf(month: string, today: string): string {
  const [year = 0, one = 0] = month.split('-').map(Number);
  const last = new Date(Date.UTC(year, one, 0)).toISOString().slice(0, 10);
  return last < today ? last : today;
}
