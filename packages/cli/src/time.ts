/** A time as it is typed; RFC 3339 in UTC. */
export function timeOf(text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Error(`${text} is no time; write 2026-11-21 or 2026-11-21T14:00:00Z`);
  return new Date(ms).toISOString();
}
