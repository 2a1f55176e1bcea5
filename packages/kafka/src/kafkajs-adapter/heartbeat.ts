import type ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';

/**
 * Tells the coordinator that this member lives; rejects with what it answers. Not kafkajs' own: when the clock has gone back
 * that sends none until the clock is where it was, and says nothing of it.
 */
export async function sendHeartbeat(
  { coordinator, memberId, generationId }: Pick<ConsumerGroup, 'coordinator' | 'memberId' | 'generationId'>,
  groupId: string,
): Promise<void> {
  if (coordinator === null || memberId === null || generationId === null)
    throw new Error('expected to be a member of the group');
  await coordinator.heartbeat({ groupId, memberId, groupGenerationId: generationId });
}
