import { Gauge } from 'prom-client';
import type { ServiceScope } from './run-service.js';

/** What a source of records reports of itself. */
export interface SourceState {
  /** Whether it is a member of its consumer group: without it its lag is 0, for no partition is its own. */
  readonly joined: boolean;
  /** `performance.now()` of the last moment when it got on, or had nothing to do. */
  readonly lastProgressAt: number;
  readonly lag: number;
  /** Age of the oldest record that was read and is not handled. */
  readonly oldestAgeMs: number;
  readonly lastError?: string;
}

interface Watched {
  health(): SourceState;
}

/** A joined source that settles nothing for so long, while it has work, is stuck: only a restart helps. */
const STUCK_MS = 120_000;
/** A look is taken each second; an ordinary rebalance ends within two. */
const LOST_LOOKS = 3;

export interface SourceMetrics {
  /** Begins the names of the metrics, such as `webhook_source`. */
  readonly prefix: string;
  /** Under it they name the source. */
  readonly label: string;
}

/** The gauges of all sources, by their names; read at each scrape. */
export function createSourceGauges(
  { prefix, label }: SourceMetrics,
  sources: ReadonlyMap<string, Watched>,
  { registry }: Pick<ServiceScope, 'registry'>,
): void {
  const gauge = (name: string, help: string, read: (state: SourceState) => number): void => {
    new Gauge({
      name: `${prefix}_${name}`,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        for (const [name, source] of sources) this.set({ [label]: name }, read(source.health()));
      },
    });
  };
  gauge('lag_records', 'Records behind the end of the topics', ({ lag }) => lag);
  gauge(
    'lag_seconds',
    'Age of the oldest record that was read and is not handled',
    (state) => state.oldestAgeMs / 1_000,
  );
  gauge('joined', 'Whether it is a member of its group', ({ joined }) => Number(joined));
}

/** Ties a source to the health and the log of the service. Returns how to end that. */
export function watchSource(
  name: string,
  source: Watched,
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
    return joined && idleMs > STUCK_MS ? `no progress for ${Math.round(idleMs / 1_000)} s` : undefined;
  });
  return () => clearInterval(looking);
}
