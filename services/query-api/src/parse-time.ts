import { MAX_TIME_MS, isUtcTime } from '@webhooks/contracts';

/**
 * To the next whole millisecond: an entry's time has no smaller part, so both bounds mean the same then. Before 1970 is 1970
 * and beyond the year 9999 its last millisecond: no entry is there, and not every database knows such times.
 */
export function parseTime(text: string): Date | undefined {
  if (!isUtcTime(text)) return undefined;
  const isBroken = /\.\d{3}0*[1-9]/.test(text);
  return new Date(Math.min(Math.max(Date.parse(text) + Number(isBroken), 0), MAX_TIME_MS));
}
