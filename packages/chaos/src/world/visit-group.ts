import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Consumer, GroupMember, PartitionAssigner } from 'kafkajs';
import { chaosKafka } from './kafka-tools.js';

const { AssignerProtocol } = kafkajs;

/** As the workers' own is called: a member with any other would not be let in. */
const PROTOCOL = 'webhooks-sticky';
/** A member that was killed is waited for by its group for 10 s, and the others finish what they are at. */
const JOIN_DEADLINE_MS = 30_000;

function deal(members: readonly GroupMember[], partitions: readonly (readonly [string, number])[]) {
  const shares = members.map(() => new Map<string, number[]>());
  for (const [index, [topic, partition]] of partitions.entries()) {
    const share = shares[index % shares.length];
    share?.set(topic, [...(share.get(topic) ?? []), partition]);
  }
  return members.map(({ memberId }, index) => ({
    memberId,
    memberAssignment: AssignerProtocol.MemberAssignment.encode({
      version: 1,
      assignment: Object.fromEntries(shares[index] ?? []),
      userData: Buffer.alloc(0),
    }),
  }));
}

/** Should it lead the group, it deals the partitions out like cards, whoever held them. */
const assigner: PartitionAssigner = ({ cluster }) => ({
  name: PROTOCOL,
  version: 1,
  protocol: ({ topics }) => ({
    name: PROTOCOL,
    metadata: AssignerProtocol.MemberMetadata.encode({ version: 1, topics, userData: Buffer.from('{}') }),
  }),
  assign: ({ members, topics }) => {
    const partitions = topics.flatMap((topic) =>
      cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => [topic, partitionId] as const),
    );
    return Promise.resolve(deal(members, partitions));
  },
});

/** Resolves once the member has got its partitions; rejects when it was not let in. */
function untilJoined(consumer: Consumer): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the group did not let it in')), JOIN_DEADLINE_MS);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    consumer.on(consumer.events.GROUP_JOIN, () => settle(resolve));
    consumer.on(consumer.events.CRASH, ({ payload }) => settle(() => reject(payload.error)));
  });
}

/**
 * Joins a group of the workers as one more member that takes its share of the partitions, does nothing with them, commits
 * nothing, and leaves. All partitions change hands twice by that. Rejects when the group cannot be joined.
 */
export async function visitGroup(
  brokers: readonly string[],
  { groupId, topics, staysMs }: { groupId: string; topics: readonly string[]; staysMs: number },
): Promise<void> {
  const consumer = chaosKafka(brokers).consumer({
    groupId,
    partitionAssigners: [assigner],
    sessionTimeout: 10_000,
    heartbeatInterval: 500,
    retry: { retries: 0, restartOnFailure: () => Promise.resolve(false) },
  });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [...topics] });
    const joined = untilJoined(consumer);
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (batch) => {
        batch.pause();
        return Promise.resolve();
      },
    });
    await joined;
    await delay(staysMs);
  } finally {
    await consumer.disconnect();
  }
}
