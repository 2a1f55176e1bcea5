import { Gauge, repeat, type ServiceScope } from '@webhooks/runtime';
import kafkajs from 'kafkajs';
import type { SourceHealth } from '../source-types.js';
import { adminOf, type Kafka } from './create-kafka.js';

export interface RetentionOptions {
  readonly kafka: Kafka;
  /** What the sources read. */
  readonly topics: readonly string[];
  /** Sources by the name that the metric gives them; read at each look at the metrics. */
  readonly sources: () => ReadonlyMap<string, { health(): Pick<SourceHealth, 'oldestAgeByTopic'> }>;
  /** How often the topics' settings are read: an operator may change them. Default 60,000. */
  readonly everyMs?: number;
}

const EVERY_MS = 60_000;
const POLICY = 'cleanup.policy';
const AGE = 'retention.ms';

/**
 * For how long the broker keeps a record of each topic by its age, in milliseconds; Infinity for ever (an age of -1, or a compacted
 * topic, unless its policy says so, too). A bound in bytes (`retention.bytes`) may take it earlier and is not reported.
 */
async function fetchRetentions(kafka: Kafka, topics: readonly string[]): Promise<Map<string, number>> {
  const type = kafkajs.ConfigResourceTypes.TOPIC;
  const resources = topics.map((name) => ({ type, name, configNames: [POLICY, AGE] }));
  const described = await adminOf(kafka).describeConfigs({ resources, includeSynonyms: false });
  return new Map(
    described.resources.map(({ resourceName, configEntries }) => {
      const values = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]));
      const ms = Number(values.get(AGE) ?? NaN);
      if (Number.isNaN(ms)) throw new Error(`the broker does not tell ${AGE} of ${resourceName}`);
      return [resourceName, values.get(POLICY)?.includes('delete') && ms >= 0 ? ms : Infinity];
    }),
  );
}

/**
 * Shows how much of the time for which the broker keeps a record has passed for the oldest one that a source has not
 * handled: at 1 the broker may delete what nobody has delivered. Reported by each instance for the partitions that it has.
 * Nothing is reported of a source whose topics' retention was never read.
 */
export function watchRetention(
  { kafka, topics, sources, everyMs = EVERY_MS }: RetentionOptions,
  { registry, log, onClose }: Pick<ServiceScope, 'registry' | 'log' | 'onClose'>,
): void {
  let retentions: ReadonlyMap<string, number> = new Map();
  const reading = repeat({
    name: 'reading the retention of topics',
    everyMs,
    log,
    work: async () => {
      retentions = await fetchRetentions(kafka, topics);
    },
  });
  onClose('retention', () => reading.stop());
  new Gauge({
    name: 'webhook_retention_used_ratio',
    help: 'Age of the oldest record that is not handled, against the time for which its topic is kept',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [source, one] of sources()) {
        const shares = Object.entries(one.health().oldestAgeByTopic).flatMap(([topic, ageMs]) => {
          const retentionMs = retentions.get(topic);
          return retentionMs === undefined ? [] : [ageMs / Math.max(retentionMs, 1)];
        });
        if (shares.length > 0) this.set({ source }, Math.max(...shares));
      }
    },
  });
}
