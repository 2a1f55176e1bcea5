import { openSource } from '@webhooks/kafka';
import type { Kafka, KafkaRecord, PartitionPosition, SourceHealth } from '@webhooks/kafka';
import { repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { Batches } from './batches.js';
import { Positions } from './positions.js';
import type { PositionModel } from './positions.js';
import type { Projection } from './projection.js';

export interface ProjectionParts {
  readonly kafka: Kafka;
  readonly groupPrefix: string;
  readonly generation: string;
  readonly positionModel: PositionModel;
}

export interface RunningProjection {
  readonly name: string;
  health(): SourceHealth;
  /** How far a topic of the projection is written. */
  positions(topic: string): Positions;
  stop(deadlineMs: number): Promise<void>;
}

/** Records read and not yet written: what a flood fills while the database is slow. */
const WINDOW = { maxInFlight: 4_000, maxInFlightBytes: 32 * 1_048_576 };
const TELL_MS = 25;

/** Reads the topics of a projection with a group of this generation and writes what they tell, until it is stopped. */
export async function openProjection(
  projection: Projection,
  { kafka, groupPrefix, generation, positionModel }: ProjectionParts,
  scope: Pick<ServiceScope, 'log' | 'fail'>,
): Promise<RunningProjection> {
  const { name, topics, maxRecords, intervalMs = 0, isAwaited = false, apply } = projection;
  const { log } = scope;
  const batches = new Batches<KafkaRecord>({ name, apply, maxItems: maxRecords, intervalMs, log });
  const source = await openSource({
    kafka,
    groupId: `${groupPrefix}.${name}.${generation}`,
    topics,
    window: WINDOW,
    handle: (record) => batches.add(record),
    onFatal: scope.fail,
  });
  const own = (): readonly PartitionPosition[] => source.positions();
  const positions = new Map(
    topics.map((topic) => [topic, new Positions({ generation, topic, model: positionModel, own })]),
  );
  const tell = async (): Promise<void> => {
    for (const position of positions.values()) await position.write();
  };
  const telling = isAwaited
    ? repeat({ name: `${name}: telling the position`, everyMs: TELL_MS, log: scope.log, work: tell })
    : undefined;
  return {
    name,
    health: () => source.health(),
    positions: (topic) => {
      const found = positions.get(topic);
      if (!found) throw new Error(`the projection ${name} does not read ${topic}`);
      return found;
    },
    stop: async (deadlineMs) => {
      await source.stop({ deadlineMs });
      batches.stop();
      await telling?.stop();
    },
  };
}
