import type { IncomingMessage } from 'node:http';
import { AppError } from './app-error.js';

/** Default bound of all bodies in memory at once, in bytes. */
export const DEFAULT_OPEN_BODY_BYTES = 64 * 1_048_576;

/** The bytes that the bodies of open requests may have together; each is counted before it is read. */
export interface BodyBudget {
  /**
   * Sets bytes aside for this request's body and gives back what releases them: its `content-length`, or `maxBytes`
   * when it is chunked. Throws 503 when they are not there.
   */
  reserve(request: IncomingMessage, maxBytes: number): () => void;
}

/** RFC 9112 §6.3: a request with neither header has no body. */
function bodyBytes({ headers }: IncomingMessage, maxBytes: number): number {
  if (headers['transfer-encoding'] !== undefined) return maxBytes;
  return Number(headers['content-length'] ?? 0);
}

export function createBodyBudget(totalBytes: number): BodyBudget {
  let free = totalBytes;
  return {
    reserve: (request, maxBytes) => {
      const bytes = bodyBytes(request, maxBytes);
      if (bytes > free) {
        throw new AppError('unavailable', 'too many requests are being read; send this one again', {
          headers: { 'retry-after': '1' },
          shed: { reason: 'open-bodies' },
        });
      }
      free -= bytes;
      return () => {
        free += bytes;
      };
    },
  };
}
