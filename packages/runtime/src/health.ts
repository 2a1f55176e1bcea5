/** Returns why a part fails now, or undefined when it works. Must return at once and never throw. */
export type HealthProbe = () => string | undefined;

export interface HealthReport {
  readonly ok: boolean;
  /** Reasons by the names of the failing probes; empty when none fails. */
  readonly faults: Readonly<Record<string, string>>;
}

/**
 * The health of a service. It is ready when it has all that its work needs. It is live while it makes progress, and
 * while a dependency is down. A restart would not help then, and would repeat everything that was not committed.
 */
export class HealthBoard {
  private readonly live = new Map<string, HealthProbe>();
  private readonly ready = new Map<string, HealthProbe>();
  private readonly dependencies = new Map<string, HealthProbe>();

  liveness(name: string, probe: HealthProbe): void {
    this.live.set(name, probe);
  }

  /**
   * Adds a readiness probe. `showsDependency`: the probe fails only while a dependency is down; default true. Such a
   * failure excuses a lack of progress, so a probe for faults of the service itself must set false.
   */
  readiness(name: string, probe: HealthProbe, showsDependency = true): void {
    this.ready.set(name, probe);
    if (showsDependency) this.dependencies.set(name, probe);
  }

  isLive(): HealthReport {
    const dependencies = report(this.dependencies);
    return dependencies.ok ? report(this.live) : { ok: true, faults: {} };
  }

  isReady(): HealthReport {
    // Two probes may have one name: a source that hangs, and one that is no member of its group.
    const faults = { ...report(this.live).faults, ...report(this.ready).faults };
    return { ok: Object.keys(faults).length === 0, faults };
  }
}

function report(probes: ReadonlyMap<string, HealthProbe>): HealthReport {
  const faults: Record<string, string> = {};
  for (const [name, probe] of probes) {
    const fault = probe();
    if (fault !== undefined) faults[name] = fault;
  }
  return { ok: Object.keys(faults).length === 0, faults };
}
