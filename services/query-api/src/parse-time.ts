import { isUtcTime } from '@webhooks/contracts';

/** To the next whole millisecond: an entry's time has no smaller part, so both bounds mean the same then. */
export function parseTime(text: string): Date | undefined {
  if (!isUtcTime(text)) return undefined;
  const isBroken = /\.\d{3}0*[1-9]/.test(text);
  return new Date(Date.parse(text) + Number(isBroken));
}
