import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { ServiceScope } from './run-service.js';

/** The state of a source of records. */
export interface SourceState {
  /** Whether the source is a member of its consumer group. Otherwise it has no partition, and its lag is 0. */
  readonly joined: boolean;
  /** When the source last made progress or had nothing to do, by `performance.now()`. */
  readonly lastProgressAt: number;
  readonly lastError?: string | undefined;
}

/** A joined source that has work and settles nothing for this long is stalled, milliseconds. Only a restart helps. */
const STALLED_MS = 120_000;
/** Seconds without membership until a warning. An ordinary rebalance ends within two. */
const LOST_SECONDS = 3;

/** Adds a gauge without labels, read at each scrape. */
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

/**
 * Adds a gauge with a value for each source, read at each scrape. `label`: the label for the source's name. A source
 * for which `read` returns undefined has no value.
 */
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

/**
 * Reports a source to the service's health, and a lost membership to the log. Returns a function that ends the log
 * lines.
 */
export function watchSource(
  name: string,
  source: { health(): SourceState },
  { log, health }: Pick<ServiceScope, 'log' | 'health'>,
): () => void {
  let lostSeconds = 0;
  const checks = setInterval(() => {
    const { joined, lastError } = source.health();
    if (joined && lostSeconds >= LOST_SECONDS)
      log.info('the source is a member of its group again', { source: name });
    lostSeconds = joined ? 0 : lostSeconds + 1;
    if (lostSeconds === LOST_SECONDS) {
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
  return () => clearInterval(checks);
}
