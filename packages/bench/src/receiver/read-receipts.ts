import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseReceipt } from './receipt-file.js';
import type { Receipt } from './receipt-file.js';

/** The receipts in a receiver's file from a byte position on. Throws for a line that is none. */
export async function readReceipts(file: string, from: number): Promise<readonly Receipt[]> {
  const receipts: Receipt[] = [];
  const lines = createInterface({ input: createReadStream(file, { start: from }) });
  for await (const line of lines) receipts.push(parseReceipt(line));
  return receipts;
}
