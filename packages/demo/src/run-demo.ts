import { account, feed } from '@webhooks/ledger';
import type { Balance, FedStack, FeedLine, Print, Stage } from '@webhooks/ledger';
import { showTable } from './show.js';

/** Feeds all lines, waits until they are settled, and prints the progress and the table. */
export async function feedAndAccount(
  stage: Pick<Stage, 'file' | 'hooks'>,
  options: { readonly stack: FedStack; readonly lines: readonly FeedLine[]; readonly print: Print },
): Promise<Balance> {
  const { stack, lines, print } = options;
  const refusing = stage.hooks.length > 0 ? '; one of them refuses two of three first attempts' : '';
  print(`· ${stage.hooks.length} endpoints registered${refusing}`);
  const started = performance.now();
  const took = (): string => `${((performance.now() - started) / 1_000).toFixed(1)} s`;
  const result = await account(stage, options, async (report) => {
    await feed(stack, lines, report);
    print(`· lines fed in ${took()}: ${lines.length}, in turn to the topic and to ingest`);
  });
  print(`· settled ${took()} after the first event`);
  showTable(result.ledger, print);
  return result;
}
