import { readSettings, reportFaults } from '@webhooks/runtime';
import { readKafkaSettings } from './connect-kafka.js';
import { createKafka, type Kafka } from './kafkajs/create-kafka.js';
import { fetchEndOffsets } from './kafkajs/topics.js';

type GroupOffsets = Awaited<ReturnType<ReturnType<Kafka['admin']>['fetchOffsets']>>[number];

/** How far a group is behind the end of a topic, in words. */
async function describeLag(kafka: Kafka, { topic, partitions }: GroupOffsets): Promise<string> {
  const ends = await fetchEndOffsets(kafka, topic);
  const behind = partitions
    .map(({ partition, offset }) => (ends.get(partition) ?? 0) - Number(offset))
    .filter((records) => records > 0);
  const records = behind.reduce((sum, one) => sum + one, 0);
  return `${topic}: ${records} records behind in ${behind.length} of ${ends.size} partitions`;
}

/**
 * Writes a line for each topic of each consumer group of a service: its members, and how far it is behind as it has
 * committed. Reads KAFKA_… and GROUP_PREFIX of the environment. Ends the process when Kafka does not respond, or refuses.
 */
export async function operateLag(service: string): Promise<void> {
  reportFaults();
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
