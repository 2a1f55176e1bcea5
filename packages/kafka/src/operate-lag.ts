import { readSettings } from '@webhooks/runtime';
import { readKafkaSettings } from './connect-kafka.js';
import { createKafka, type Kafka } from './kafkajs/create-kafka.js';
import { fetchEndOffsets } from './kafkajs/topics.js';

type GroupOffsets = Awaited<ReturnType<ReturnType<Kafka['admin']>['fetchOffsets']>>[number];

/** A commit's metadata ends with the time of the last record that was handled, or of the next one. */
const timeOf = (metadata: string | null): number => Number(/:(\d+)$/.exec(metadata ?? '')?.[1] ?? NaN);

/** How far a group is behind the end of a topic, in words. */
async function describeLag(kafka: Kafka, { topic, partitions }: GroupOffsets): Promise<string> {
  const ends = await fetchEndOffsets(kafka, topic);
  const late = partitions
    .map(({ partition, offset, metadata }) => ({
      records: (ends.get(partition) ?? 0) - Number(offset),
      at: timeOf(metadata),
    }))
    .filter(({ records }) => records > 0);
  const records = late.reduce((sum, one) => sum + one.records, 0);
  const oldest = Math.min(...late.map(({ at }) => at).filter((at) => !Number.isNaN(at)));
  const age = Number.isFinite(oldest) ? `, since ${new Date(oldest).toISOString()}` : '';
  return `${topic}: ${records} records behind in ${late.length} of ${ends.size} partitions${age}`;
}

/**
 * Writes a line for each topic of each consumer group of a service: its members, and how far it is behind as it has
 * committed. Reads KAFKA_… and GROUP_PREFIX of the environment. Rejects when Kafka does not respond, or refuses.
 */
export async function operateLag(service: string): Promise<void> {
  const { settings, groupPrefix } = readSettings(process.env, (reader) => ({
    settings: readKafkaSettings(reader, 'lag'),
    groupPrefix: reader.text('GROUP_PREFIX', service),
  }));
  const write = (line: string): boolean => process.stdout.write(`${line}\n`);
  const kafka = createKafka(settings);
  try {
    await kafka.adminConnections.cluster.connect();
    const admin = kafka.admin();
    const { groups } = await admin.listGroups();
    const names = groups.map(({ groupId }) => groupId).filter((name) => name.startsWith(`${groupPrefix}.`));
    const described = names.length === 0 ? [] : (await admin.describeGroups(names)).groups;
    for (const { groupId, members } of described)
      for (const one of await admin.fetchOffsets({ groupId }))
        write(`${groupId} (${members.length} members)  ${await describeLag(kafka, one)}`);
    if (names.length === 0) write(`no group begins with ${groupPrefix}.`);
  } finally {
    await kafka.close();
  }
}
