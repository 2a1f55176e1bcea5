import { AppError } from './app-error.js';
import { Shares } from './shares.js';
import type { Caller, SharesOptions } from './shares.js';

/** The requests that are under way in one instance: their number is bounded, and so is what waits for database and Kafka. */
export interface OpenRequests {
  /**
   * Lets a request in and gives back what ends it, to be called once. Throws 429 with `Retry-After` when its tenant has
   * its share, or when there is no room at all.
   */
  enter(caller: Caller): () => void;
  /** Does what is let in so. */
  run<T>(caller: Caller, work: () => Promise<T>): Promise<T>;
}

const refuse = (tenantId?: string): AppError =>
  new AppError(
    'too-many-requests',
    `too many requests${tenantId === undefined ? '' : ' of this tenant'} are under way; send this one again`,
    {
      shed: tenantId === undefined ? { reason: 'open-requests' } : { reason: 'tenant-share', tenantId },
    },
  );

export function createOpenRequests(limits: Omit<SharesOptions, 'refuse'>): OpenRequests {
  const shares = new Shares({ ...limits, refuse });
  const enter = (caller: Caller): (() => void) => {
    shares.take(caller, 1);
    return () => shares.give(caller, 1);
  };
  return {
    enter,
    run: async (caller, work) => {
      const leave = enter(caller);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
