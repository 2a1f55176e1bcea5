import { addSourceGauge, repeat, type ServiceScope } from '@webhooks/runtime';
import type { SourceHealth } from './source.js';
import type { Kafka } from '../kafkajs/create-kafka.js';
import { settingsOf } from '../kafkajs/topics.js';
import { RETENTION_READ_MS } from '../limits.js';

export interface RetentionOptions {
  readonly kafka: Kafka;
  /** What the sources read. */
  readonly topics: readonly string[];
  /** Sources by the name that the metric gives them; read at each look at the metrics. */
  readonly sources: ReadonlyMap<string, { health(): Pick<SourceHealth, 'oldestAgeByTopic'> }>;
  /** How often the topics' settings are read: an operator may change them. Default 60,000. */
  readonly everyMs?: number;
}

const POLICY = 'cleanup.policy';
const AGE = 'retention.ms';

/**
 * For how long the broker keeps a record of a topic by its age, in milliseconds; Infinity for ever (an age of -1, or a compacted
 * topic, unless its policy says so, too). A bound in bytes (`retention.bytes`) may take it earlier and is not reported.
 */
async function fetchRetention(kafka: Kafka, topic: string): Promise<number> {
  const settings = await settingsOf(kafka, topic, [POLICY, AGE]);
  const ms = Number(settings.get(AGE) ?? NaN);
  if (Number.isNaN(ms)) throw new Error(`the broker does not report ${AGE} of ${topic}`);
  return settings.get(POLICY)?.includes('delete') && ms >= 0 ? ms : Infinity;
}

/**
 * Shows how much of the time for which the broker keeps a record has passed for the oldest one that a source has not
 * handled: at 1 the broker may delete what nobody has delivered. Reported by each instance for the partitions that it has.
 * Nothing is reported of a source whose topics' retention was never read.
 */
export function watchRetention(
  { kafka, topics, sources, everyMs = RETENTION_READ_MS }: RetentionOptions,
  scope: Pick<ServiceScope, 'registry' | 'log' | 'onClose'>,
): void {
  const retentions = new Map<string, number>();
  const reading = repeat({
    name: 'reading the retention of topics',
    everyMs,
    log: scope.log,
    work: async () => {
      const read = async (topic: string) => retentions.set(topic, await fetchRetention(kafka, topic));
      await Promise.all(topics.map(read)); // one that is missing hides no other
    },
  });
  scope.onClose('retention', () => reading.stop());
  const help = 'Age of the oldest record that is not handled, against the time for which its topic is kept';
  const names = { name: 'webhook_retention_used_ratio', help, label: 'source' };
  addSourceGauge(scope, names, sources, ({ oldestAgeByTopic }) => {
    const shares = Object.entries(oldestAgeByTopic).flatMap(([topic, ageMs]) => {
      const retentionMs = retentions.get(topic);
      return retentionMs === undefined ? [] : [ageMs / Math.max(retentionMs, 1)];
    });
    return shares.length > 0 ? Math.max(...shares) : undefined;
  });
}
