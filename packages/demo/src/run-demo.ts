import { TOPICS } from '@webhooks/contracts';
import { Ledger, feed, print, untilNone, withAdmin } from '@webhooks/testkit/account';
import { followReceipts } from './follow-receipts.js';
import type { FedStack, FeedLine } from '@webhooks/testkit/account';
import type { Stage } from './stage.js';
import { showTable } from './show.js';

/** Each fourth look is shown: a line in two seconds. */
const LOOKS_A_LINE = 4;

/** Records that were ever rejected. */
const countRejected = ({ kafkaBrokers }: FedStack): Promise<number> =>
  withAdmin(kafkaBrokers, async (admin) => {
    const offsets = await admin.fetchTopicOffsets(TOPICS.rejected);
    return offsets.reduce((sum, { high }) => sum + Number(high), 0);
  });

/**
 * Feeds all lines, waits until everything is settled, and compares what was acknowledged with what the receiver appends to its
 * file from now on. Prints the progress and the table.
 */
export async function feedAndAccount(
  { file, hooks }: Pick<Stage, 'file' | 'hooks'>,
  stack: FedStack,
  lines: readonly FeedLine[],
) {
  const refusing = hooks.length > 0 ? '; one of them refuses two of three first attempts' : '';
  print(`· ${hooks.length} endpoints registered${refusing}`);
  const started = performance.now();
  const took = (): string => `${((performance.now() - started) / 1_000).toFixed(1)} s`;
  const nextReceipts = followReceipts(file);
  const before = await countRejected(stack);
  const { acknowledged, toBeRejected, refusedByIngest } = await feed(stack, lines);
  print(`· lines fed in ${took()}: ${lines.length}, in turn to the topic and to ingest`);
  const ledger = new Ledger(
    acknowledged.flatMap(({ event }) => event ?? []),
    hooks,
  );
  let [rejected, looks] = [0, 0];
  const countLeft = async (): Promise<number> => {
    ledger.note(await nextReceipts());
    // While the broker is away, the last count stays.
    rejected = await countRejected(stack).then(
      (count) => count - before,
      () => rejected,
    );
    const { accepted, delivered } = ledger.totals();
    looks += 1;
    if (looks % LOOKS_A_LINE === 0) print(`· ${delivered} of ${accepted} delivered`);
    return accepted - delivered + Math.max(0, toBeRejected - rejected);
  };
  await untilNone(countLeft);
  print(`· settled ${took()} after the first event`);
  showTable(ledger);
  const { accepted, delivered, duplicates } = ledger.totals();
  const lost = accepted - delivered;
  return {
    accepted,
    balanced: lost === 0 && accepted > 0 && rejected === toBeRejected,
    /** The last lines. */
    closing: [
      `rejected=${rejected + refusedByIngest} unmatched=${ledger.unmatched}`,
      `accepted=${accepted} delivered=${delivered} duplicates=${duplicates} lost=${lost}`,
    ],
  };
}
export type Balance = Awaited<ReturnType<typeof feedAndAccount>>;
