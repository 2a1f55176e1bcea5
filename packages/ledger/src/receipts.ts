import { closeSync, openSync, readSync } from 'node:fs';
import type { ArrivalLine } from '@webhooks/testkit';

/** The part of a line in the receiver's append-only file that the ledger reads. */
export type Receipt = Pick<ArrivalLine, 'id' | 'path' | 'status' | 'receivedAt'>;

const CHUNK_BYTES = 1_048_576;

function isReceipt(value: unknown): value is Receipt {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    'path' in value &&
    'status' in value &&
    'receivedAt' in value
  );
}

function parseReceipt(line: string): Receipt {
  const parsed: unknown = JSON.parse(line);
  if (isReceipt(parsed)) return parsed;
  throw new Error('a line of the receiver is no receipt');
}

/** Follows a growing file: each call gives the whole lines that came since the last one. */
export function openReceipts(file: string): { readonly next: () => Receipt[]; readonly close: () => void } {
  const descriptor = openSync(file, 'r');
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  const read = (): Buffer => {
    const bytes = readSync(descriptor, buffer, 0, CHUNK_BYTES, offset);
    offset += bytes;
    return buffer.subarray(0, bytes);
  };
  return {
    next: () => {
      const receipts: Receipt[] = [];
      for (let chunk = read(); chunk.byteLength > 0; chunk = read()) {
        const text = Buffer.concat([rest, chunk]);
        const end = text.lastIndexOf(0x0a) + 1;
        rest = Buffer.from(text.subarray(end));
        const lines = text.subarray(0, end).toString('utf8').split('\n');
        receipts.push(...lines.flatMap((line) => (line === '' ? [] : [parseReceipt(line)])));
      }
      return receipts;
    },
    close: () => closeSync(descriptor),
  };
}
