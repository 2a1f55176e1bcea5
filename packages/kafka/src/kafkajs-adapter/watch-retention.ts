import { Gauge, repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import type { Kafka } from './kafkajs-adapter/create-kafka.js';
import { fetchRetentions } from './kafkajs-adapter/retention.js';
import type { SourceHealth } from './source-types.js';

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
    help: 'Age of the oldest record that was read and is not handled, against the time for which its topic is kept',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [source, one] of sources()) {
        const ages = Object.entries(one.health().oldestAgeByTopic);
        const shares = ages.flatMap(([topic, ageMs]) => shareOf(ageMs, retentions.get(topic)));
        if (shares.length > 0) this.set({ source }, Math.max(...shares));
      }
    },
  });
}

/** No share of what is not known; all of it of a topic that keeps nothing. */
function shareOf(ageMs: number, retentionMs: number | undefined): readonly number[] {
  if (retentionMs === undefined) return [];
  return [ageMs === 0 ? 0 : ageMs / retentionMs];
}
