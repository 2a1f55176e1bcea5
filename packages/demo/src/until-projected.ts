import { setTimeout as delay } from 'node:timers/promises';
import { paint, parseLags } from '@webhooks/ledger';
import type { Print } from '@webhooks/ledger';

const LOOK_MS = 1_000;
/** A line for each of so many looks. */
const LOOKS_A_LINE = 5;

async function recordsBehind(queryAdmin: string): Promise<number> {
  const response = await fetch(`${queryAdmin}/metrics`, { signal: AbortSignal.timeout(LOOK_MS) });
  return parseLags(await response.text()).reduce((sum, { records }) => sum + records, 0);
}

/** Waits until query-api has read what came before, and shows how much is left. A query-api that does not answer is not waited for. */
export async function untilProjected(queryAdmin: string, print: Print): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    const behind = await recordsBehind(queryAdmin).catch(() => 0);
    if (behind === 0) return;
    if (looks % LOOKS_A_LINE === 1)
      print(
        paint('yellow', `· query-api reads what came before: ${behind.toLocaleString('en')} records behind`),
      );
    await delay(LOOK_MS);
  }
}
