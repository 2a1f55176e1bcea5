import kafkajs from 'kafkajs';
import { adminOf, type Kafka } from './create-kafka.js';
import { untilDeadline } from '../deadline.js';

const POLICY = 'cleanup.policy';
const AGE = 'retention.ms';
const DEADLINE_MS = 5_000;

type Settings = Readonly<Record<string, string | null>>;

/** A compacted topic deletes nothing by age unless its policy says so, too; -1 means for ever. */
function retentionOf({ [POLICY]: policy, [AGE]: age }: Settings): number {
  const ms = Number(age ?? Number.NaN);
  if (Number.isNaN(ms)) throw new Error(`expected ${AGE} to be a number, got "${age ?? 'nothing'}"`);
  return (policy ?? 'delete').includes('delete') && ms >= 0 ? ms : Infinity;
}

/**
 * For how long the broker keeps a record of each topic by its age, in milliseconds; Infinity for ever. A bound in bytes
 * (`retention.bytes`) may take it earlier and is not reported. Rejects after `deadlineMs` (5,000).
 */
export async function fetchRetentions(
  kafka: Kafka,
  topics: readonly string[],
  options: { readonly deadlineMs?: number } = {},
): Promise<ReadonlyMap<string, number>> {
  const resources = topics.map((name) => ({
    type: kafkajs.ConfigResourceTypes.TOPIC,
    name,
    configNames: [POLICY, AGE],
  }));
  return untilDeadline('the retention of topics', options.deadlineMs ?? DEADLINE_MS, async () => {
    const described = await adminOf(kafka).describeConfigs({ resources, includeSynonyms: false });
    return new Map(
      described.resources.map(({ resourceName, configEntries }) => {
        const entries = configEntries.map(
          ({ configName, configValue }) => [configName, configValue] as const,
        );
        return [resourceName, retentionOf(Object.fromEntries(entries))];
      }),
    );
  });
}
