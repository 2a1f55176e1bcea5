import type { SourceHealth } from '@webhooks/kafka';
import { addSourceGauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';

export interface Watched {
  health(): SourceHealth;
}

/** The gauges of all sources, by their names. */
export function createSourceGauges(sources: ReadonlyMap<string, Watched>, scope: ServiceScope): void {
  const gauge = (name: string, help: string, read: (health: SourceHealth) => number): void =>
    addSourceGauge(scope, { name, help, label: 'source' }, sources, read);
  const age = 'Age of the oldest record that is not handled; of retries, how long the oldest has waited';
  gauge('webhook_source_lag_records', 'Records behind the end of the topics', ({ lag }) => lag);
  gauge('webhook_source_lag_seconds', age, ({ oldestAgeMs }) => oldestAgeMs / 1_000);
  gauge('webhook_source_joined', 'Whether the source is a member of its group', ({ joined }) =>
    Number(joined),
  );
  const retrying = 'Records that could not be handled and wait for another try';
  gauge('webhook_source_retrying', retrying, (health) => health.retrying);
  gauge('webhook_source_in_flight', 'Records that are being handled', ({ inFlight }) => inFlight);
}
