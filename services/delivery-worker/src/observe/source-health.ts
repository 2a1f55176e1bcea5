import { RETRY_TIERS } from '@webhooks/contracts';
import type { Source } from '@webhooks/kafka';
import { Gauge, addSourceGauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';

export type Watched = Pick<Source, 'health' | 'missingTopics'>;

/** Reports missing topics. Without a retry tier, retries take more moves. */
function watchTopics(sources: ReadonlyMap<string, Watched>, { health, registry }: ServiceScope): void {
  const missing = () => [...sources.values()].flatMap((source) => source.missingTopics());
  const fault = () => (missing().length > 0 ? `missing: ${missing().join(', ')}` : undefined);
  health.readiness('topics', fault, false);
  new Gauge({
    name: 'webhook_topic_missing',
    help: '1 for each topic that this worker reads and Kafka does not know',
    labelNames: ['topic'],
    registers: [registry],
    collect() {
      this.reset();
      for (const topic of missing()) this.set({ topic }, 1);
    },
  });
}

const DELAYS_MS = new Map(RETRY_TIERS.map(({ topic, delayMs }) => [topic, delayMs]));

const lateMs = ({ oldestAgeByTopic }: ReturnType<Source['health']>): number =>
  Math.max(
    0,
    ...Object.entries(oldestAgeByTopic).map(([topic, ageMs]) => ageMs - (DELAYS_MS.get(topic) ?? 0)),
  );

/** Creates the gauges of all sources, labelled with their names. */
export function createSourceGauges(sources: ReadonlyMap<string, Watched>, scope: ServiceScope): void {
  watchTopics(sources, scope);
  const gauge = (name: string, help: string, read: (health: ReturnType<Source['health']>) => number): void =>
    addSourceGauge(scope, { name, help, label: 'source' }, sources, read);
  const age = 'Age of the oldest record that is not handled; of a retry, beyond the delay of its tier';
  gauge('webhook_source_lag_records', 'Records behind the end of the topics', ({ lag }) => lag);
  gauge('webhook_source_lag_seconds', age, (health) => lateMs(health) / 1_000);
  gauge('webhook_source_joined', 'Whether the source is a member of its group', ({ joined }) =>
    Number(joined),
  );
  const retrying = 'Records that could not be handled and wait for another try';
  gauge('webhook_source_retrying', retrying, (health) => health.retrying);
  gauge('webhook_source_in_flight', 'Records that are being handled', ({ inFlight }) => inFlight);
}
