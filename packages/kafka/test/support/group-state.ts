import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import type { Kafka } from '../../src/index.js';

export interface GroupState {
  /** Kafka's word, such as `Stable` or `PreparingRebalance`. */
  readonly state: string;
  readonly members: number;
}

/** What the coordinator says of a group. Asked through kafkajs' own admin client. */
export async function groupState(kafka: Kafka, groupId: string): Promise<GroupState> {
  const admin = new Kafkajs({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { groups } = await admin.describeGroups([groupId]);
    const [found] = groups;
    return { state: found?.state ?? 'Dead', members: found?.members.length ?? 0 };
  } finally {
    await admin.disconnect();
  }
}
