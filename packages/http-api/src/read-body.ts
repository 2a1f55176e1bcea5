import type { IncomingMessage } from 'node:http';
import { AppError, invalidRequest } from './app-error.js';

const tooLarge = (maxBytes: number) =>
  invalidRequest([{ property: '', reason: `must not be larger than ${maxBytes} bytes` }]);

/** What the headers alone refuse: a compressed body would have to be unpacked before its size is known. */
export function checkBodyHeaders({ headers }: IncomingMessage, maxBytes: number): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw invalidRequest([{ property: 'Content-Encoding', reason: 'must be identity' }]);
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** The connection ended before the body did: nobody is left to be told, and nothing of ours failed. */
export class CallerGone extends Error {
  constructor(cause: unknown) {
    super('the caller hung up before the end of its body', { cause });
    this.name = 'CallerGone';
  }
}

/** Reads a request's body of at most `maxBytes`; throws 422 as soon as it is known to be larger. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof AppError ? error : new CallerGone(error);
  }
  return Buffer.concat(chunks, size);
}
