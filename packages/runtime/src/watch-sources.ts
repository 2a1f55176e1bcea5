import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { ServiceScope } from './run-service.js';

/** What a source of records reports of itself. */
export interface SourceState {
  /** Whether it is a member of its consumer group. Otherwise it has no partition, and its lag is 0. */
  readonly joined: boolean;
  /** When it last made progress or had nothing to do, by `performance.now()`. */
  readonly lastProgressAt: number;
  readonly lastError?: string | undefined;
}

/** A joined source that has work and settles nothing for this long is stalled. Only a restart helps. */
const STALLED_MS = 120_000;
/** Seconds without membership until a warning. An ordinary rebalance ends within two. */
const LOST_LOOKS = 3;

/** A gauge without labels, read at each scrape. */
export function addGauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** A gauge with a value for each source, read at each scrape. `label`: the label for its name. No value where `read` gives undefined. */
export function addSourceGauge<S>(
  { registry }: Pick<ServiceScope, 'registry'>,
  { label, ...names }: { readonly name: string; readonly help: string; readonly label: string },
  sources: ReadonlyMap<string, { health(): S }>,
  read: (state: S) => number | undefined,
): void {
  new Gauge({
    ...names,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [source, watched] of sources) {
        const value = read(watched.health());
        if (value !== undefined) this.set({ [label]: source }, value);
      }
    },
  });
}

/** Reports a source to the service's health, and its lost membership to the log. Returns how to end the lines. */
export function watchSource(
  name: string,
  source: { health(): SourceState },
  { log, health }: Pick<ServiceScope, 'log' | 'health'>,
): () => void {
  let missed = 0;
  const looking = setInterval(() => {
    const { joined, lastError } = source.health();
    if (joined && missed >= LOST_LOOKS)
      log.info('the source is a member of its group again', { source: name });
    missed = joined ? 0 : missed + 1;
    if (missed === LOST_LOOKS) {
      const fields = { source: name, error: lastError };
      log.warn('the source is not a member of its group: nothing is read', fields);
    }
  }, 1_000);
  health.readiness(`source ${name}`, () =>
    source.health().joined ? undefined : 'not a member of its group',
  );
  health.liveness(`source ${name}`, () => {
    const { joined, lastProgressAt } = source.health();
    const idleMs = performance.now() - lastProgressAt;
    return joined && idleMs > STALLED_MS ? `no progress for ${Math.round(idleMs / 1_000)} s` : undefined;
  });
  return () => clearInterval(looking);
}
