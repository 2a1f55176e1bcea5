import { openSource } from '../../src/index.js';
import type { Kafka, KafkaRecord, Source, SourceOptions } from '../../src/index.js';
import { kafkaAt } from './cluster.js';

export interface Collected {
  readonly source: Source;
  readonly records: KafkaRecord[];
  readonly values: () => string[];
}

export const WINDOW = { maxInFlight: 500, maxInFlightBytes: 8 * 1024 * 1024 };

/** A source that keeps what it reads. */
export async function collect(
  kafka: Kafka,
  options: Pick<SourceOptions, 'groupId' | 'topics'> & Partial<SourceOptions>,
): Promise<Collected> {
  const records: KafkaRecord[] = [];
  const source = await openSource({
    kafka: kafkaAt(kafka.brokers, kafka.log),
    window: WINDOW,
    handle: (record) => {
      records.push(record);
      return Promise.resolve();
    },
    ...options,
  });
  return { source, records, values: () => records.map(({ value }) => value?.toString() ?? '') };
}
