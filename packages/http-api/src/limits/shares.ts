import { AppError } from '../request/app-error.js';
import type { Identity } from '../token/identity.js';

export type Caller = Pick<Identity, 'tenantId' | 'scopes'>;

/** Whether tenant limits apply to this caller. */
export const isCounted = ({ scopes }: Caller, uncountedScope: string | undefined): boolean =>
  uncountedScope === undefined || !scopes.has(uncountedScope);

interface SharesOptions {
  /** How much all callers together may hold. */
  readonly total: number;
  /** The most that one tenant may hold; default: as much as is free. */
  readonly each?: number;
  /** Tokens with this scope are the operator's own, and may hold everything. */
  readonly uncountedScope?: string | undefined;
  /** Makes the error: for a tenant that has its share, or without a tenant when too little is left for anyone. */
  readonly refuse: (tenantId?: string) => AppError;
}

/**
 * A bounded amount that tenants share. Each may hold as much as is free (dynamic thresholds, Choudhury and Hahne 1998): one alone gets
 * half of `total`, two get a third each. So something is always left for another tenant.
 */
export class Shares {
  /** What each tenant holds. A tenant that holds nothing has no entry. */
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

  /** Throws when less is free, or when the tenant would then hold more than is free. */
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

/** Bounds the bytes that the bodies of open requests hold together. */
export function createBodyBudget(totalBytes: number, uncountedScope?: string) {
  const shares = new Shares({ total: totalBytes, uncountedScope, refuse: refuseBody });
  return {
    /** Throws 503 when the declared length exceeds what is free. A declared length takes nothing yet. */
    open: (caller: Caller, declaredBytes: number) => {
      if (declaredBytes > shares.free) throw refuseBody();
      let held = 0;
      return {
        /** Takes capacity for bytes that have come. Throws 503 when it is not free. */
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

/** Bounds the requests under way in one instance, and so what waits for the database and Kafka. */
export function createOpenRequests(limits: Omit<SharesOptions, 'refuse'>) {
  const shares = new Shares({ ...limits, refuse: refuseRequest });
  /** Admits a request; call the returned function once when it has ended. Throws 429 with `Retry-After` without capacity. */
  const enter = (caller: Caller): (() => void) => {
    shares.take(caller, 1);
    return () => shares.give(caller, 1);
  };
  /** Runs `work` as one admitted request. */
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
