import { createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { TOPICS } from '@webhooks/contracts';
import { readFeedLine, DeliveryAccount, feed, print, untilNone, withAdmin } from '@webhooks/testkit/account';
import type { FeedLine, Receipt, FedStack } from '@webhooks/testkit/account';
import type { DemoScenario } from './scenario.js';
import { showTable } from './show.js';

/**
 * Reads an events file: one JSON object a line, a byte order mark and empty lines skipped. Throws when it is empty, missing or over 512 MiB.
 */
export async function readEventsFile(file: string): Promise<readonly FeedLine[]> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`the events file ${file} cannot be read: ${String(error)}`, { cause: error });
  });
  const lines = content.split(/^\uFEFF|\r?\n/).filter((text) => text.trim() !== '');
  if (lines.length === 0) throw new Error(`${file} holds no events`);
  return lines.map(readFeedLine);
}

/** Bytes to read at a time. After a feed of a million lines the file has a gigabyte. */
const CHUNK_BYTES = 16_777_216;

/** Follows a growing file. Each call returns the complete lines since the last one, 16 MiB at most. */
function followReceipts(file: string): () => Promise<readonly Receipt[]> {
  let start = statSync(file).size;
  return async () => {
    const chunk = await buffer(createReadStream(file, { start, end: start + CHUNK_BYTES - 1 }));
    const lines = chunk.subarray(0, chunk.lastIndexOf('\n') + 1);
    start += lines.byteLength;
    const texts = lines.toString('utf8').split('\n').slice(0, -1);
    return texts.map((text) => JSON.parse(text) as Receipt);
  };
}

/** Every fourth poll prints a line, which is one in two seconds. */
const POLLS_A_LINE = 4;

/** Returns the number of records that were ever rejected. */
const countRejected = ({ kafkaBrokers }: FedStack): Promise<number> =>
  withAdmin(kafkaBrokers, async (admin) => {
    const offsets = await admin.fetchTopicOffsets(TOPICS.rejected);
    return offsets.reduce((sum, { high }) => sum + Number(high), 0);
  });

/**
 * Feeds all lines, waits until everything is settled, and compares acknowledged events with the arrivals that the receiver appends to its
 * file meanwhile. Prints the progress and the table.
 */
export async function feedAndAccount(
  { file, hooks }: Pick<DemoScenario, 'file' | 'hooks'>,
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
  const account = new DeliveryAccount(acknowledged, hooks);
  let [rejected, polls] = [0, 0];
  const countLeft = async (): Promise<number> => {
    account.note(await nextReceipts());
    // While the broker is down, the last count is used.
    rejected = await countRejected(stack).then(
      (count) => count - before,
      () => rejected,
    );
    const { accepted, delivered } = account.totals();
    polls += 1;
    if (polls % POLLS_A_LINE === 0) print(`· ${delivered} of ${accepted} delivered`);
    return accepted - delivered + Math.max(0, toBeRejected - rejected);
  };
  await untilNone(countLeft);
  print(`· settled ${took()} after the first event`);
  showTable(account);
  const { accepted, delivered, duplicates, strangers } = account.totals();
  const lost = accepted - delivered;
  return {
    accepted,
    /** Arrivals that were not owed to the endpoint. In compose they may be of an earlier run. */
    strangers,
    balanced: lost === 0 && accepted > 0 && rejected === toBeRejected,
    /** The last lines. */
    closing: [
      `rejected=${rejected + refusedByIngest} unmatched=${account.unmatched}`,
      `accepted=${accepted} delivered=${delivered} duplicates=${duplicates} strangers=${strangers} lost=${lost}`,
    ],
  };
}
export type Balance = Awaited<ReturnType<typeof feedAndAccount>>;
