import { isHandled } from '../evidence/evidence.js';
import type { Evidence, RedeliverySeen, TaskSeen } from '../evidence/evidence.js';
import type { CaseFile, Delivery } from './case-file.js';
import type { Finding } from './finding.js';

/** A job has sent all that it was to send, however often its process died; by what stands on the topic, not by its own count. */
function judgeJob(
  { cycle, state, ...counts }: RedeliverySeen,
  tasks: readonly TaskSeen[],
): readonly Finding[] {
  if (state !== 'completed')
    return [{ kind: 'not-redelivered', text: `the redelivery ${cycle} is ${state}` }];
  const sent = new Set(tasks.filter((task) => task.cycle === cycle).map(({ deliveryId }) => deliveryId)).size;
  const due = counts.matched - counts.refused - counts.expired;
  if (sent >= due) return [];
  return [{ kind: 'not-redelivered', text: `the redelivery ${cycle} sent ${sent} of ${due} deliveries` }];
}

/** Whoever has handled the task of a redelivery has told what came of it. */
function judgeTask(
  { sent, configuration, deliveryId, entries }: Delivery,
  task: TaskSeen,
  { topics }: Evidence,
) {
  if (task.cycle === '0' || !isHandled(topics, task.place)) return [];
  if (entries.some(({ entry }) => entry.cycle === task.cycle)) return [];
  const text = `${sent.event.id} for ${configuration.path}: nothing came of the redelivery ${task.cycle}`;
  return [{ kind: 'not-redelivered' as const, text, deliveryId }];
}

/** Every delivery that a job was to send again was sent, and attempted. */
export function checkRedeliveries({ deliveries }: CaseFile, evidence: Evidence): readonly Finding[] {
  const { redeliveries, topics } = evidence;
  return [
    ...redeliveries.flatMap((job) => judgeJob(job, topics.tasks)),
    ...[...deliveries.values()].flatMap((delivery) =>
      delivery.tasks.flatMap((task) => judgeTask(delivery, task, evidence)),
    ),
  ];
}
