import { setTimeout as delay } from 'node:timers/promises';
import { TOPICS } from '@webhooks/contracts';
import { newReport } from './feed.js';
import type { FeedReport } from './feed.js';
import { createKafkaClient } from './kafka-client.js';
import { Ledger } from './ledger.js';
import type { Print } from './print.js';
import { followReceipts } from './receipts.js';
import type { Receipt } from './receipts.js';
import type { FedStack } from './register-hooks.js';
import type { Stage } from './stage.js';

export interface Balance {
  readonly ledger: Ledger;
  readonly balanced: boolean;
  /** The two closing lines. */
  readonly closing: readonly [string, string];
}

/** The wait ends when nothing new arrived for this long. The longest pause in a run is a retry after 6 s. */
const QUIET_MS = 90_000;
const LOOK_MS = 200;
/** Each tenth look is shown: a line in two seconds. */
const LOOKS_A_LINE = 10;

interface Waiting {
  readonly ledger: Ledger;
  readonly toBeRejected: number;
  readonly countRejected: () => Promise<number>;
  readonly nextReceipts: () => Promise<readonly Receipt[]>;
  readonly print: Print;
}

/** Reads the receiver's file until the ledger balances or nothing new came for 90 s. Returns what was rejected. */
async function untilBalanced(waiting: Waiting): Promise<number> {
  const { ledger, toBeRejected, countRejected, nextReceipts, print } = waiting;
  let [rejected, changedAt] = [0, performance.now()];
  for (let looks = 1; ; looks += 1) {
    const fresh = await nextReceipts();
    for (const receipt of fresh) ledger.note(receipt);
    if (fresh.length > 0) changedAt = performance.now();
    // While the broker is away, the last count stays.
    rejected = await countRejected().catch(() => rejected);
    const { accepted, delivered } = ledger.totals();
    if (delivered === accepted && rejected >= toBeRejected) return rejected;
    if (performance.now() - changedAt > QUIET_MS) return rejected;
    if (looks % LOOKS_A_LINE === 0) print(`· ${delivered} of ${accepted} delivered`);
    await delay(LOOK_MS);
  }
}

/**
 * Feeds with `feedAll`, waits until everything is settled, and compares the ledger with what the receiver appends to its
 * file from now on.
 */
export async function account(
  { file, hooks }: Pick<Stage, 'file' | 'hooks'>,
  { stack, print }: { readonly stack: FedStack; readonly print: Print },
  feedAll: (report: FeedReport) => Promise<void>,
): Promise<Balance> {
  const nextReceipts = followReceipts(file);
  const admin = createKafkaClient(stack.kafkaBrokers, 'demo-ledger').admin();
  await admin.connect();
  const endOfRejected = async (): Promise<number> => {
    const offsets = await admin.fetchTopicOffsets(TOPICS.rejected);
    return offsets.reduce((sum, { high }) => sum + Number(high), 0);
  };
  const before = await endOfRejected();
  const countRejected = async (): Promise<number> => (await endOfRejected()) - before;
  const report = newReport();
  await feedAll(report);
  const { toBeRejected, refusedByIngest } = report;
  const ledger = new Ledger(hooks);
  for (const { event } of report.acknowledged) if (event) ledger.expect(event);
  const rejected = await untilBalanced({ ledger, toBeRejected, countRejected, nextReceipts, print });
  await admin.disconnect();
  const { accepted, delivered, duplicates, lost } = ledger.totals();
  return {
    ledger,
    balanced: lost === 0 && accepted > 0 && rejected === toBeRejected,
    closing: [
      `rejected=${rejected + refusedByIngest} unmatched=${ledger.unmatched}`,
      `accepted=${accepted} delivered=${delivered} duplicates=${duplicates} lost=${lost}`,
    ],
  };
}
