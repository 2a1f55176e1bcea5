import { createReadStream, statSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { Receipt } from '../../testkit/src/account/delivery-account.js';

/** Read at a time. After a feed of a million lines the file holds a gigabyte. */
const CHUNK_BYTES = 16_777_216;

/** Follows a growing file: each call gives whole lines that came since the last one, 16 MiB at most. */
export function followReceipts(file: string): () => Promise<readonly Receipt[]> {
  let start = statSync(file).size;
  return async () => {
    const chunk = await buffer(createReadStream(file, { start, end: start + CHUNK_BYTES - 1 }));
    const lines = chunk.subarray(0, chunk.lastIndexOf('\n') + 1);
    start += lines.byteLength;
    const texts = lines.toString('utf8').split('\n').slice(0, -1);
    return texts.map((text) => JSON.parse(text) as Receipt);
  };
}
