/** When a breaker opens and how long it stays open; milliseconds. */
export interface BreakerRules {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** From opening to the first probe; default 30 s. It doubles with each probe that fails. */
  readonly firstPauseMs: number;
  /** Bound of the doubling; default 10 min. */
  readonly maxPauseMs: number;
}

/** Deferred deliveries probe first. A live delivery probes when none came within this time after a probe was due. */
const LIVE_PROBES_AFTER_MS = 2_000;

/**
 * The circuit breaker of one endpoint: opens after failures in a row, then sends one probe at a time, with a longer
 * pause after each failed one. Pure: the caller gives the time (monotonic milliseconds).
 */
export class Breaker {
  /** Failures in a row, 0 for a healthy endpoint. */
  failures = 0;
  /** From the last failed probe, or the opening, to the next probe; 0 while closed. */
  pauseMs = 0;
  /** When the next probe is due; meaningless while closed. */
  probeAt = 0;
  readonly #rules: BreakerRules;
  #isProbing = false;
  /** A probe counts for the opening in which it was sent. A late end has no effect on a later opening. */
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

  /** Gives the opening that this delivery may probe now. The end of the probe must be reported. */
  startProbe(now: number, wasDeferred: boolean): number | undefined {
    const probeAt = wasDeferred ? this.probeAt : this.probeAt + LIVE_PROBES_AFTER_MS;
    if (this.#isProbing || now < probeAt) return undefined;
    this.#isProbing = true;
    return this.#opening;
  }

  /** The probe was not attempted, so another delivery may probe at once. */
  dropProbe(probe: number | undefined): void {
    if (probe === this.#opening) this.#isProbing = false;
  }

  /** Any success closes it. */
  succeeded(): void {
    this.failures = 0;
    this.pauseMs = 0;
    this.#isProbing = false;
  }

  /** Returns true when this failure opened it. Failures of attempts that started before the opening are ignored. */
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
