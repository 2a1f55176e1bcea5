import type { Source, SourceHealth } from '@webhooks/kafka';
import { Gauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';

export interface Watched {
  health(): SourceHealth;
  stop: Source['stop'];
}

/** A joined source that settles nothing for so long, while it has work, is stuck: only a restart helps. */
const STUCK_MS = 120_000;

export interface SourceGauges {
  readonly lag: Gauge<'source'>;
  readonly age: Gauge<'source'>;
  readonly inFlight: Gauge<'source'>;
  readonly retrying: Gauge<'source'>;
}

export function createSourceGauges({ registry }: ServiceScope): SourceGauges {
  const shared = { labelNames: ['source'] as const, registers: [registry] };
  return {
    lag: new Gauge({
      name: 'webhook_source_lag_records',
      help: 'Records behind the end of the topics',
      ...shared,
    }),
    age: new Gauge({
      name: 'webhook_source_lag_seconds',
      help: 'Age of the oldest record that was read and is not handled; of retries, how long the oldest has waited',
      ...shared,
    }),
    retrying: new Gauge({
      name: 'webhook_source_retrying',
      help: 'Records that could not be handled and wait for another try',
      ...shared,
    }),
    inFlight: new Gauge({
      name: 'webhook_source_in_flight',
      help: 'Records that are being handled',
      ...shared,
    }),
  };
}

/** Ties a source to the service: its health and gauges. Returns its orderly stop. */
export function watchSource(
  name: string,
  source: Watched,
  { lag, age, inFlight, retrying }: SourceGauges,
  scope: ServiceScope,
): (deadlineMs: number) => Promise<void> {
  let wasJoined = source.health().joined;
  const timer = setInterval(() => {
    const health = source.health();
    const { joined, lastError } = health;
    if (joined !== wasJoined) {
      const fields = { source: name, ...(lastError === undefined ? {} : { error: lastError }) };
      if (joined) scope.log.info('the source is a member of its group again', fields);
      else scope.log.warn('the source is not a member of its group: nothing is read', fields);
    }
    wasJoined = joined;
    lag.set({ source: name }, health.lag);
    age.set({ source: name }, health.oldestAgeMs / 1_000);
    inFlight.set({ source: name }, health.inFlight);
    retrying.set({ source: name }, health.retrying);
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
