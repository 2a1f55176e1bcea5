import { AppError } from '../request/app-error.js';
import { Shares } from './shares.js';
import type { Caller, SharesOptions } from './shares.js';

const refuse = (tenantId?: string): AppError =>
  new AppError(
    'too-many-requests',
    `too many requests${tenantId === undefined ? '' : ' of this tenant'} are under way; send this one again`,
    {
      shed: tenantId === undefined ? { reason: 'open-requests' } : { reason: 'tenant-share', tenantId },
    },
  );

/** The requests that are under way in one instance: their number is bounded, and so is what waits for database and Kafka. */
export function createOpenRequests(limits: Omit<SharesOptions, 'refuse'>) {
  const shares = new Shares({ ...limits, refuse });
  /**
   * Lets a request in and gives back what ends it, to be called once. Throws 429 with `Retry-After` when its tenant has
   * its share, or when there is no room at all.
   */
  const enter = (caller: Caller): (() => void) => {
    shares.take(caller, 1);
    return () => shares.give(caller, 1);
  };
  /** Does what is let in so. */
  const run = async <T>(caller: Caller, work: () => Promise<T>): Promise<T> => {
    const leave = enter(caller);
    try {
      return await work();
    } finally {
      leave();
    }
  };
  return { enter, run };
}

export type OpenRequests = ReturnType<typeof createOpenRequests>;
