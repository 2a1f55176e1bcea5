import { AppError } from '../request/app-error.js';
import { Shares } from './shares.js';
import type { Caller } from './shares.js';

const refuse = (tenantId?: string): AppError =>
  new AppError('unavailable', 'too many request bodies are being read; send this one again', {
    shed: tenantId === undefined ? { reason: 'open-bodies' } : { reason: 'tenant-share', tenantId },
  });

/** The bytes that the bodies of open requests may hold together. */
export function createBodyBudget(totalBytes: number, uncountedScope?: string) {
  const shares = new Shares({ total: totalBytes, uncountedScope, refuse });
  return {
    /** Throws 503 at once when the declared length cannot fit now; a length that is only declared holds nothing. */
    open: (caller: Caller, declaredBytes: number) => {
      if (declaredBytes > shares.free) throw refuse();
      let held = 0;
      return {
        /** For so many bytes more, once they have come. Throws 503 when they are not there. */
        take: (bytes: number): void => {
          shares.take(caller, bytes);
          held += bytes;
        },
        release: (): void => shares.give(caller, held),
      };
    },
  };
}

export type BodyBudget = ReturnType<typeof createBodyBudget>;
