import { Kafka as Kafkajs, logLevel } from 'kafkajs';
import { eventually } from '@webhooks/testkit';
import type { Kafka } from '../../src/index.js';
import { stickyAssigner } from '../../src/source/sticky-assigner.js';

export interface SlowLeader {
  /** Resolves when the leader has begun to deal partitions to so many members: those wait for it. */
  readonly deals: (members: number) => Promise<unknown>;
  /** Lets it go on, from now on without delay. */
  readonly goOn: () => void;
  readonly leave: () => Promise<void>;
}

/** The first member of a group, by kafkajs' own consumer: once it is not alone any more, it takes its time to deal. */
export async function slowLeader(kafka: Kafka, groupId: string, topic: string): Promise<SlowLeader> {
  const dealt = new Set<number>();
  let held = true;
  const sticky = stickyAssigner(
    () => ({ generation: -1, partitions: {} }),
    () => [0, 1, 2, 3],
  );
  const assign: typeof sticky.assign = async (group) => {
    dealt.add(group.members.length);
    if (group.members.length > 1) await eventually(() => !held);
    return sticky.assign(group);
  };
  const client = new Kafkajs({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });
  const consumer = client.consumer({
    groupId,
    heartbeatInterval: 100,
    maxWaitTimeInMs: 100,
    partitionAssigners: [() => ({ ...sticky, assign })],
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic] });
  await consumer.run({ eachMessage: () => Promise.resolve() });
  const deals = (members: number) => eventually(() => dealt.has(members));
  await deals(1);
  return {
    deals,
    goOn: () => {
      held = false;
    },
    leave: () => consumer.disconnect(),
  };
}
