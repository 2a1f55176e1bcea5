import { addSourceGauge, repeatUntilClose, type ServiceScope } from '@webhooks/runtime';
import type { SourceHealth } from './source.js';
import type { Kafka } from '../kafkajs/create-kafka.js';
import { settingsOf } from '../kafkajs/topics.js';
import { RETENTION_READ_MS } from '../limits.js';

export interface RetentionOptions {
  readonly kafka: Kafka;
  /** The topics that the sources read. */
  readonly topics: readonly string[];
  /** Sources by the metric's label value, read at each scrape. */
  readonly sources: ReadonlyMap<string, { health(): Pick<SourceHealth, 'oldestAgeByTopic'> }>;
  /** How often the topics' settings are read, milliseconds, because an operator may change them; default 60,000. */
  readonly everyMs?: number;
}

const POLICY = 'cleanup.policy';
const AGE = 'retention.ms';

/**
 * Returns for how long the broker retains a record of a topic by its age, milliseconds. Infinity when the age is -1,
 * or the topic is only compacted. A limit in bytes (`retention.bytes`) may delete records earlier and is not
 * considered.
 */
async function fetchRetention(kafka: Kafka, topic: string): Promise<number> {
  const settings = await settingsOf(kafka, topic, [POLICY, AGE]);
  const ms = Number(settings.get(AGE) ?? NaN);
  if (Number.isNaN(ms)) throw new Error(`the broker does not report ${AGE} of ${topic}`);
  return settings.get(POLICY)?.includes('delete') && ms >= 0 ? ms : Infinity;
}

/**
 * Exports `webhook_retention_used_ratio`: the age of a source's oldest unhandled record, divided by its topic's
 * retention time. At 1 the broker may delete records that were not delivered. Each instance reports its assigned
 * partitions. A source gets no value until the retention of one of its topics was read.
 */
export function watchRetention(
  { kafka, topics, sources, everyMs = RETENTION_READ_MS }: RetentionOptions,
  scope: Pick<ServiceScope, 'registry' | 'log' | 'onClose'>,
): void {
  const retentions = new Map<string, number>();
  const read = async (topic: string) => retentions.set(topic, await fetchRetention(kafka, topic));
  // A missing topic does not block the others.
  const work = () => Promise.all(topics.map(read));
  repeatUntilClose({ name: 'reading the retention of topics', everyMs, work }, scope);
  const help = 'Age of the oldest unhandled record, divided by the retention time of its topic';
  const names = { name: 'webhook_retention_used_ratio', help, label: 'source' };
  addSourceGauge(scope, names, sources, ({ oldestAgeByTopic }) => {
    const shares = Object.entries(oldestAgeByTopic).flatMap(([topic, ageMs]) => {
      const retentionMs = retentions.get(topic);
      return retentionMs === undefined ? [] : [ageMs / Math.max(retentionMs, 1)];
    });
    return shares.length > 0 ? Math.max(...shares) : undefined;
  });
}
