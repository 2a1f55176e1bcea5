import { AppError } from '../request/app-error.js';
import type { Identity } from '../token/identity.js';

export type Caller = Pick<Identity, 'tenantId' | 'scopes'>;

/** Whether bounds for tenants are for this caller, too. */
export const isCounted = ({ scopes }: Caller, uncountedScope: string | undefined): boolean =>
  uncountedScope === undefined || !scopes.has(uncountedScope);

interface SharesOptions {
  /** What all callers may hold together. */
  readonly total: number;
  /** What one tenant may hold at most; absent: all that is free. */
  readonly each?: number;
  /** Tokens with this scope are the operator's own and may hold it all. */
  readonly uncountedScope?: string | undefined;
  /** The error for a tenant that has its share; without a tenant, for a caller that finds too little left. */
  readonly refuse: (tenantId?: string) => AppError;
}

/**
 * Something bounded that tenants share: each may hold as much as is free (dynamic thresholds, Choudhury and Hahne 1998). One
 * alone gets half of `total`, two get a third each, and there is capacity for another one.
 */
export class Shares {
  /** Only tenants that hold something. */
  readonly #byTenant = new Map<string, number>();
  readonly #options: SharesOptions;
  #free: number;

  constructor(options: SharesOptions) {
    this.#options = options;
    this.#free = options.total;
  }

  get free(): number {
    return this.#free;
  }

  /** Throws when there is not so much left, or the tenant would hold more than is free. */
  take(caller: Caller, amount: number): void {
    const { each = Infinity, refuse } = this.#options;
    if (amount > this.#free) throw refuse();
    if (isCounted(caller, this.#options.uncountedScope)) {
      const held = (this.#byTenant.get(caller.tenantId) ?? 0) + amount;
      if (held > Math.min(this.#free, each)) throw refuse(caller.tenantId);
      this.#byTenant.set(caller.tenantId, held);
    }
    this.#free -= amount;
  }

  /** Gives back what the same caller took. */
  give(caller: Caller, amount: number): void {
    this.#free += amount;
    if (!isCounted(caller, this.#options.uncountedScope)) return;
    const held = (this.#byTenant.get(caller.tenantId) ?? 0) - amount;
    if (held === 0) this.#byTenant.delete(caller.tenantId);
    else this.#byTenant.set(caller.tenantId, held);
  }
}

const refuseBody = (tenantId?: string): AppError =>
  new AppError('unavailable', 'too many request bodies are being read; send this one again', {
    shed: tenantId === undefined ? { reason: 'open-bodies' } : { reason: 'tenant-share', tenantId },
  });

/** The bytes that the bodies of open requests may hold together. */
export function createBodyBudget(totalBytes: number, uncountedScope?: string) {
  const shares = new Shares({ total: totalBytes, uncountedScope, refuse: refuseBody });
  return {
    /** Throws 503 at once when the declared length cannot fit now; a length that is only declared holds nothing. */
    open: (caller: Caller, declaredBytes: number) => {
      if (declaredBytes > shares.free) throw refuseBody();
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

const refuseRequest = (tenantId?: string): AppError =>
  new AppError(
    'too-many-requests',
    `too many requests${tenantId === undefined ? '' : ' of this tenant'} are under way; send this one again`,
    {
      shed: tenantId === undefined ? { reason: 'open-requests' } : { reason: 'tenant-share', tenantId },
    },
  );

/** The requests that are under way in one instance: their number is bounded, and so is what waits for database and Kafka. */
export function createOpenRequests(limits: Omit<SharesOptions, 'refuse'>) {
  const shares = new Shares({ ...limits, refuse: refuseRequest });
  /**
   * Lets a request in and gives back what ends it, to be called once. Throws 429 with `Retry-After` when its tenant has
   * its share, or when there is no capacity at all.
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
