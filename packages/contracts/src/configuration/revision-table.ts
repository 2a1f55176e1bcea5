/** A row of a `RevisionTable`. */
export interface Revised {
  readonly tenantId: string;
  readonly ref: string;
  /** Rises with each change. */
  readonly revision: number;
}

/**
 * The rows of a compacted topic, by tenant and ref. Records of concurrent publishers may arrive in any order, so only a
 * higher revision is applied. Two levels of maps: joined keys would need 64 MB for a million rows.
 */
export class RevisionTable<T extends Revised> {
  readonly #tenants = new Map<string, Map<string, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  find(tenantId: string, ref: string): T | undefined {
    return this.#tenants.get(tenantId)?.get(ref);
  }

  /** The rows of one tenant. */
  rowsOf(tenantId: string): readonly T[] {
    return [...(this.#tenants.get(tenantId)?.values() ?? [])];
  }

  hasTenant(tenantId: string): boolean {
    return this.#tenants.has(tenantId);
  }

  /** The rows of all tenants. */
  *rows(): Iterable<T> {
    for (const rows of this.#tenants.values()) yield* rows.values();
  }

  /** Applies a row if its revision is higher than the known one. Returns whether it was applied. */
  apply(next: T): boolean {
    const { tenantId, ref } = next;
    const rows = this.#tenants.get(tenantId) ?? new Map<string, T>();
    const known = rows.get(ref);
    if (known && known.revision >= next.revision) return false;
    if (!known) this.#size += 1;
    this.#tenants.set(tenantId, rows.set(ref, next));
    return true;
  }
}
