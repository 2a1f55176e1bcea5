import type { Client, RedeliveryInput } from '@webhooks/client';

/**
 * How many deliveries match, through dry runs: a range with too many to count in time is halved. -1 when there was no
 * answer, as while a process is down.
 */
export async function countExactly(client: Client, input: RedeliveryInput): Promise<number> {
  const to = input.to ?? new Date().toISOString();
  try {
    const { matched, matchedIsLowerBound } = await client.countRedelivery({ ...input, to });
    if (!matchedIsLowerBound) return matched;
  } catch {
    return -1;
  }
  const middle = new Date((Date.parse(input.from) + Date.parse(to)) / 2).toISOString();
  const older = await countExactly(client, { ...input, to: middle });
  const newer = older < 0 ? older : await countExactly(client, { ...input, from: middle, to });
  return newer < 0 ? newer : older + newer;
}
