import type { Kafka } from './create-kafka.js';
import type { EndOffsets } from './table-reader-types.js';

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /** Default: the broker's own default. */
  readonly replicationFactor?: number;
  readonly configs: Readonly<Record<string, string>>;
}

export function ensureTopics(
  kafka: Kafka,
  specs: readonly TopicSpec[],
  options: { readonly deadlineMs?: number } = {},
): Promise<void> {
  return Promise.reject(new Error(`not yet: ${kafka.clientId} ${specs.length} ${options.deadlineMs ?? 0}`));
}

export function fetchEndOffsets(
  kafka: Kafka,
  topic: string,
  options: { readonly deadlineMs?: number } = {},
): Promise<EndOffsets> {
  return Promise.reject(new Error(`not yet: ${kafka.clientId} ${topic} ${options.deadlineMs ?? 0}`));
}
