const LIMIT = 10_000;

/** A map that keeps its latest 10,000 entries and forgets the oldest: for what is merely quicker to know. */
export class RecentMap<K, V> {
  private readonly entries = new Map<K, V>();

  get(key: K): V | undefined {
    return this.entries.get(key);
  }

  set(key: K, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size <= LIMIT) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }

  delete(key: K): void {
    this.entries.delete(key);
  }
}
