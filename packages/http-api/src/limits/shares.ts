import type { AppError } from '../request/app-error.js';
import type { Identity } from '../token/identity.js';

export type Caller = Pick<Identity, 'tenantId' | 'scopes'>;

/** Whether bounds for tenants are for this caller, too. */
export const isCounted = ({ scopes }: Caller, uncountedScope: string | undefined): boolean =>
  uncountedScope === undefined || !scopes.has(uncountedScope);

export interface SharesOptions {
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
 * alone gets half of `total`, two get a third each, and there is room for another one.
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
