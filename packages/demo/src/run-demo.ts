import { account, feed, setStage } from '@webhooks/ledger';
import type { AccountOptions, Balance } from '@webhooks/ledger';
import { showTable } from './show.js';

/** Registers, feeds, waits and accounts: the demonstration on a stack that is up. */
export async function runDemo(options: AccountOptions): Promise<Balance> {
  const { stack, lines, print } = options;
  const stage = await setStage(options);
  print(`· ${stage.hooks.length} endpoints registered; one of them refuses the first attempt of each event`);
  const started = performance.now();
  const took = (): string => `${((performance.now() - started) / 1_000).toFixed(1)} s`;
  const result = await account(stage, options, async (report) => {
    await feed(stack, lines, report);
    print(`· ${lines.length} events fed in ${took()}, half to the topic, half to ingest`);
  });
  print(`· settled ${took()} after the first event`);
  showTable(result.ledger, print);
  return result;
}
