import { openSource } from '@webhooks/kafka';
import type { Kafka, KafkaRecord, Source } from '@webhooks/kafka';
import { watchSource } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { Batches } from './batches.js';
import type { Projection } from './projection.js';

export type RunningProjection = Pick<Source, 'health' | 'positions' | 'stop'>;

/** Records read and not yet written: what a flood fills while the database is slow. */
const WINDOW = { maxInFlight: 4_000, maxInFlightBytes: 32 * 1_048_576 };

/** Reads the topics of a projection as a member of this group and writes what they tell, until it is stopped. */
export async function openProjection(
  { name, topics, maxBytes, intervalMs = 0, apply }: Projection,
  { kafka, groupId }: { readonly kafka: Kafka; readonly groupId: string },
  scope: ServiceScope,
): Promise<RunningProjection> {
  const { log } = scope;
  const batches = new Batches<KafkaRecord>({ name, apply, maxBytes, intervalMs, log });
  const handle = (record: KafkaRecord): Promise<unknown> => batches.add(record);
  const source = await openSource({ kafka, groupId, topics, window: WINDOW, handle, onFatal: scope.fail });
  const unwatch = watchSource(name, source, scope);
  return {
    health: () => source.health(),
    positions: () => source.positions(),
    stop: async (deadline) => {
      unwatch();
      const report = await source.stop(deadline);
      batches.stop();
      return report;
    },
  };
}
