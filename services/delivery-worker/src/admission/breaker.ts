/** When a breaker opens and how long it stays open; milliseconds. */
export interface BreakerRules {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** From opening to the first probe (30 s); doubles with each probe that fails … */
  readonly firstPauseMs: number;
  /** … up to this (10 min). */
  readonly maxPauseMs: number;
}

/** A deferred delivery should probe; when none has come for so long after a probe was due, a live one does. */
const LIVE_PROBES_AFTER_MS = 2_000;

/**
 * The circuit breaker of one endpoint: open after so many failures in a row, one probe at a time, a longer
 * pause after each probe that failed. Pure: the caller says what time it is (monotonic milliseconds).
 */
export class Breaker {
  /** Failures in a row, 0 for a healthy endpoint. */
  failures = 0;
  /** From the last failed probe, or the opening, to the next probe; 0 while closed. */
  pauseMs = 0;
  /** When the next probe is due; of no meaning while closed. */
  probeAt = 0;
  readonly #rules: BreakerRules;
  #isProbing = false;
  /** A probe counts for the opening it was sent in: one that ends late says nothing about a later one. */
  #opening = 0;

  constructor(rules: BreakerRules) {
    this.#rules = rules;
  }

  get state(): 'closed' | 'open' | 'probing' {
    if (!this.isOpen) return 'closed';
    return this.#isProbing ? 'probing' : 'open';
  }

  get isOpen(): boolean {
    return this.pauseMs > 0;
  }

  /** Which opening this delivery may probe now; if any it is the probe, and its end must be reported. */
  startProbe(now: number, wasDeferred: boolean): number | undefined {
    const probeAt = wasDeferred ? this.probeAt : this.probeAt + LIVE_PROBES_AFTER_MS;
    if (this.#isProbing || now < probeAt) return undefined;
    this.#isProbing = true;
    return this.#opening;
  }

  /** The probe's attempt was not made: another one may probe at once. */
  dropProbe(probe: number | undefined): void {
    if (probe === this.#opening) this.#isProbing = false;
  }

  /** Any success closes it. */
  succeeded(): void {
    this.failures = 0;
    this.pauseMs = 0;
    this.#isProbing = false;
  }

  /** True when this failure opened it. What was under way when it opened changes nothing any more. */
  failed(now: number, probe: number | undefined): boolean {
    this.failures += 1;
    if (this.isOpen && probe === this.#opening) {
      this.#isProbing = false;
      this.#pause(now, Math.min(2 * this.pauseMs, this.#rules.maxPauseMs));
      return false;
    }
    if (this.isOpen || this.failures < this.#rules.failures) return false;
    this.#opening += 1;
    this.#pause(now, this.#rules.firstPauseMs);
    return true;
  }

  #pause(now: number, pauseMs: number): void {
    this.pauseMs = pauseMs;
    this.probeAt = now + pauseMs;
  }
}
