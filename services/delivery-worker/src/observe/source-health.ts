import type { Source, SourceHealth } from '@webhooks/kafka';
import { Gauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';

export interface Watched {
  health(): SourceHealth;
  stop: Source['stop'];
}

/** A joined source that settles nothing for so long, while it has work, is stuck: only a restart helps. */
const STUCK_MS = 120_000;
/** A look is taken each second; an ordinary rebalance ends within two. */
const LOST_LOOKS = 3;

/** The gauges of all sources, by their names. */
export function createSourceGauges(sources: ReadonlyMap<string, Watched>, { registry }: ServiceScope): void {
  const gauge = (name: string, help: string, read: (health: SourceHealth) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['source'],
      registers: [registry],
      collect() {
        for (const [source, watched] of sources) this.set({ source }, read(watched.health()));
      },
    });
  };
  const age =
    'Age of the oldest record that was read and is not handled; of retries, how long the oldest has waited';
  gauge('webhook_source_lag_records', 'Records behind the end of the topics', ({ lag }) => lag);
  gauge('webhook_source_lag_seconds', age, ({ oldestAgeMs }) => oldestAgeMs / 1_000);
  gauge('webhook_source_joined', 'Whether the source is a member of its group', ({ joined }) =>
    Number(joined),
  );
  const retrying = 'Records that could not be handled and wait for another try';
  gauge('webhook_source_retrying', retrying, (health) => health.retrying);
  gauge('webhook_source_in_flight', 'Records that are being handled', ({ inFlight }) => inFlight);
}

/** Ties a source to the service by its health. Returns its orderly stop. */
export function watchSource(
  name: string,
  source: Watched,
  scope: ServiceScope,
): (deadlineMs: number) => Promise<void> {
  let missed = 0;
  const timer = setInterval(() => {
    const { joined, lastError } = source.health();
    if (joined && missed >= LOST_LOOKS)
      scope.log.info('the source is a member of its group again', { source: name });
    missed = joined ? 0 : missed + 1;
    const fields = { source: name, error: lastError };
    if (missed === LOST_LOOKS)
      scope.log.warn('the source is not a member of its group: nothing is read', fields);
  }, 1_000);
  scope.health.readiness(`source ${name}`, () =>
    source.health().joined ? undefined : 'not a member of its group',
  );
  scope.health.liveness(`source ${name}`, () => {
    const { joined, lastProgressAt } = source.health();
    const idleMs = performance.now() - lastProgressAt;
    return joined && idleMs > STUCK_MS ? `no progress for ${Math.round(idleMs / 1_000)} s` : undefined;
  });
  return async (deadlineMs) => {
    clearInterval(timer);
    scope.log.info('source stopped', { source: name, ...(await source.stop({ deadlineMs })) });
  };
}
