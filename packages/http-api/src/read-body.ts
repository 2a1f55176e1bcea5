import type { IncomingMessage } from 'node:http';
import { invalidRequest } from './app-error.js';

const tooLarge = (maxBytes: number) =>
  invalidRequest([{ property: '', reason: `must not be larger than ${maxBytes} bytes` }]);

/** What the headers alone refuse: a compressed body would have to be unpacked before its size is known. */
function checkHeaders({ headers }: IncomingMessage, maxBytes: number): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw invalidRequest([{ property: 'Content-Encoding', reason: 'must be identity' }]);
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** Reads a request's body of at most `maxBytes`; throws 422 as soon as it is known to be larger. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  checkHeaders(request, maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
