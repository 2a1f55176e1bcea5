import { AppError } from './app-error.js';
import { Shares } from './shares.js';
import type { Caller } from './shares.js';

/** Default bound of all bodies in memory at once, in bytes. */
export const DEFAULT_OPEN_BODY_BYTES = 64 * 1_048_576;

/** What one request's body holds. */
export interface BodyRoom {
  /** For so many bytes more, once they have come. Throws 503 when they are not there. */
  readonly take: (bytes: number) => void;
  readonly release: () => void;
}

/** The bytes that the bodies of open requests may hold together. */
export interface BodyBudget {
  /** Throws 503 at once when the declared length cannot fit now; a length that is only declared holds nothing. */
  open(caller: Caller, declaredBytes: number): BodyRoom;
}

const refuse = (tenantId?: string): AppError =>
  new AppError('unavailable', 'too many request bodies are being read; send this one again', {
    shed: tenantId === undefined ? { reason: 'open-bodies' } : { reason: 'tenant-share', tenantId },
  });

export function createBodyBudget(totalBytes: number, uncountedScope?: string): BodyBudget {
  const shares = new Shares({ total: totalBytes, uncountedScope, refuse });
  return {
    open: (caller, declaredBytes) => {
      if (declaredBytes > shares.free) throw refuse();
      let held = 0;
      return {
        take: (bytes) => {
          shares.take(caller, bytes);
          held += bytes;
        },
        release: () => shares.give(caller, held),
      };
    },
  };
}
