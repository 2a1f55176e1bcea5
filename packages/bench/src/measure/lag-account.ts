import type { ProjectionLag } from '@webhooks/ledger';

/** What became of the lags over some looks. Times are monotonic microseconds. */
export class LagAccount {
  readonly #zeroSince = new Map<string, number>();
  readonly #longest = new Map<string, number>();

  note(at: number, lags: readonly ProjectionLag[]): void {
    for (const { projection, records, seconds } of lags) {
      if (records > 0) this.#zeroSince.delete(projection);
      else if (!this.#zeroSince.has(projection)) this.#zeroSince.set(projection, at);
      this.#longest.set(projection, Math.max(this.longestSeconds(projection), seconds));
    }
  }

  /** Since when the projection has not been behind; undefined while it is. */
  zeroSince(projection: string): number | undefined {
    return this.#zeroSince.get(projection);
  }

  /** The longest lag that was seen. */
  longestSeconds(projection: string): number {
    return this.#longest.get(projection) ?? 0;
  }
}
