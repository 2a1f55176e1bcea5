import { AppError } from '../request/app-error.js';
import type { Identity } from '../token/identity.js';

export type Caller = Pick<Identity, 'tenantId' | 'scopes'>;

/** Whether tenant limits apply to this caller: all but those with the scope `exemptScope`. */
export const isLimited = ({ scopes }: Caller, exemptScope: string | undefined): boolean =>
  exemptScope === undefined || !scopes.has(exemptScope);

interface SharedBudgetOptions {
  /** The amount that all callers together may take. */
  readonly total: number;
  /** The most that one tenant may take; default: as much as is free. */
  readonly perTenant?: number;
  /** Callers with this scope are the operator's own. They may take the whole amount; absent: no caller may. */
  readonly exemptScope?: string | undefined;
  /** Makes the error. `tenantId`: this tenant has taken its share; absent: too little is left for any tenant. */
  readonly refuse: (tenantId?: string) => AppError;
}

/**
 * A bounded amount that tenants share. Each tenant may take as much as is then still free (dynamic thresholds, Choudhury
 * and Hahne 1998): one tenant alone gets half of `total`, two get a third each. So capacity is always left for another
 * tenant.
 */
export class SharedBudget {
  /** The amount that each tenant has taken. A tenant without any has no entry. */
  readonly #byTenant = new Map<string, number>();
  readonly #options: SharedBudgetOptions;
  #free: number;

  constructor(options: SharedBudgetOptions) {
    this.#options = options;
    this.#free = options.total;
  }

  /** The amount that is left. */
  get free(): number {
    return this.#free;
  }

  /** Takes an amount. Throws when less is free, or when the tenant's amount would exceed the free amount. */
  take(caller: Caller, amount: number): void {
    const { perTenant = Infinity, refuse } = this.#options;
    if (amount > this.#free) throw refuse();
    if (isLimited(caller, this.#options.exemptScope)) {
      const held = (this.#byTenant.get(caller.tenantId) ?? 0) + amount;
      if (held > Math.min(this.#free, perTenant)) throw refuse(caller.tenantId);
      this.#byTenant.set(caller.tenantId, held);
    }
    this.#free -= amount;
  }

  /** Returns an amount that the same caller took. */
  release(caller: Caller, amount: number): void {
    this.#free += amount;
    if (!isLimited(caller, this.#options.exemptScope)) return;
    const held = (this.#byTenant.get(caller.tenantId) ?? 0) - amount;
    if (held === 0) this.#byTenant.delete(caller.tenantId);
    else this.#byTenant.set(caller.tenantId, held);
  }
}

/** The 503 for a body whose bytes are not free. `tenantId`: as in `SharedBudgetOptions`. */
export const refuseOpenBody = (tenantId?: string): AppError =>
  new AppError('unavailable', 'too many request bodies are being read; send this one again', {
    shed: tenantId === undefined ? { reason: 'open-bodies' } : { reason: 'tenant-share', tenantId },
  });

const refuseRequest = (tenantId?: string): AppError =>
  new AppError(
    'too-many-requests',
    `too many requests${tenantId === undefined ? '' : ' of this tenant'} are under way; send this one again`,
    { shed: tenantId === undefined ? { reason: 'open-requests' } : { reason: 'tenant-share', tenantId } },
  );

/** Bounds the requests under way in one instance, and with them the load on the database and Kafka. */
export function createConcurrencyLimiter(limits: Omit<SharedBudgetOptions, 'refuse'>) {
  const budget = new SharedBudget({ ...limits, refuse: refuseRequest });
  /**
   * Admits a request. Call the returned function once when it has ended. Throws 429 with `Retry-After` at the limit.
   */
  const enter = (caller: Caller): (() => void) => {
    budget.take(caller, 1);
    return () => budget.release(caller, 1);
  };
  /** Runs `work` as one admitted request. Throws as `enter` and `work` do. */
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

export type ConcurrencyLimiter = ReturnType<typeof createConcurrencyLimiter>;
