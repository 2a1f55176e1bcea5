/** When a breaker opens, and how long it stays open. */
export interface BreakerRules {
  /** Consecutive failures that open the breaker; default 10. */
  readonly failures: number;
  /** From opening to the first probe, milliseconds; default 30 s. Each failed probe doubles it. */
  readonly firstPauseMs: number;
  /** Longest pause between probes, milliseconds; default 10 min. */
  readonly maxPauseMs: number;
}

/** Deferred deliveries probe first. A live delivery may probe only this long after a probe was due, milliseconds. */
const LIVE_PROBES_AFTER_MS = 2_000;

/**
 * The circuit breaker of one endpoint. It opens after consecutive failures, then allows one probe at a time, with a
 * longer pause after each failed probe. Pure: the caller passes the time (monotonic milliseconds).
 */
export class Breaker {
  /** Consecutive failures; 0 for a healthy endpoint. */
  failures = 0;
  /** From the last failed probe, or from the opening, to the next probe; 0 while closed. */
  pauseMs = 0;
  /** When the next probe is due, monotonic milliseconds. Not used while closed. */
  probeAt = 0;
  readonly #rules: BreakerRules;
  #isProbing = false;
  /** Number of the current opening. A probe that was sent in an earlier opening has no effect on this one. */
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

  /**
   * Starts a probe and returns its opening; undefined when no probe may start now. The end of the probe must be
   * reported.
   */
  startProbe(now: number, wasDeferred: boolean): number | undefined {
    const probeAt = wasDeferred ? this.probeAt : this.probeAt + LIVE_PROBES_AFTER_MS;
    if (this.#isProbing || now < probeAt) return undefined;
    this.#isProbing = true;
    return this.#opening;
  }

  /** The probe was not sent, so another delivery may probe at once. */
  dropProbe(probe: number | undefined): void {
    if (probe === this.#opening) this.#isProbing = false;
  }

  /** Any success closes the breaker. */
  succeeded(): void {
    this.failures = 0;
    this.pauseMs = 0;
    this.#isProbing = false;
  }

  /**
   * Returns true when this failure opened the breaker. While it is open, failures of attempts other than its probe
   * are only counted.
   */
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
