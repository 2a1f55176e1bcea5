import type { Evidence, RedeliverySeen, TaskSeen } from '../evidence/evidence.js';
import { isHandled } from '../evidence/evidence.js';
import type { CaseFile, Delivery } from './case-file.js';
import { isSuccess } from './fate.js';
import type { Finding } from './finding.js';

/**
 * A job has sent all that it was to send, however often its process died; by what stands on the topic, not by its own count.
 * Nothing is done to the configuration of a job (`redeliver.ts`), and its deliveries are minutes old: there is no reason to
 * refuse one, nor for one to be expired, and there was one at least.
 */
function judgeJob(
  { cycle, state, ...counts }: RedeliverySeen,
  tasks: readonly TaskSeen[],
): readonly Finding[] {
  const found = (text: string): readonly Finding[] => [
    { kind: 'not-redelivered', text: `the redelivery ${cycle} ${text}` },
  ];
  if (state !== 'completed') return found(`is ${state}`);
  const { matched, refused, expired } = counts;
  if (matched === 0) return found('found nothing that was delivered');
  if (refused + expired > 0) return found(`refused ${refused} deliveries, and called ${expired} expired`);
  const sent = new Set(tasks.filter((task) => task.cycle === cycle).map(({ deliveryId }) => deliveryId)).size;
  return sent >= matched ? [] : found(`sent ${sent} of ${matched} deliveries`);
}

/** What became of a cycle, in words that follow "the redelivery"; undefined when it is well, or still waits. */
function judgeCycle({ tasks, entries, dead }: Delivery, cycle: string, topics: Evidence['topics']) {
  const told = entries.filter(({ entry }) => entry.cycle === cycle).map(({ entry }) => entry);
  if (told.some((entry) => entry.kind === 'attempt' && entry.result === 'delivered')) return undefined;
  if (dead.some((one) => one.cycle === cycle)) return undefined; // looked at with the schedule
  if (told.some(({ kind }) => kind === 'cancelled')) return 'was cancelled though nobody disabled it';
  const isWaiting = tasks.some((task) => task.cycle === cycle && !isHandled(topics, task.place));
  return isWaiting ? undefined : 'is nowhere';
}

/** An arrival names no cycle: there have to be as many 2xx, or heads that may have held one, as cycles that claim theirs. */
function judgeArrivals({ arrivals, entries }: Delivery): string | undefined {
  const claims = new Set(
    entries.flatMap(({ entry }) =>
      entry.kind === 'attempt' && entry.result === 'delivered' ? [entry.cycle] : [],
    ),
  ).size;
  const seen = arrivals.filter((arrived) => isSuccess(arrived) || arrived.status === 0).length;
  return seen >= claims ? undefined : `${claims} cycles were delivered, by ${seen} arrivals`;
}

/** The fate of each cycle but the first, which is looked at with the fates. */
function judgeDelivery(delivery: Delivery, { topics }: Evidence): readonly Finding[] {
  const { deliveryId, sent, configuration, tasks } = delivery;
  const cycles = [...new Set(tasks.map(({ cycle }) => cycle))].filter((cycle) => cycle !== '0');
  if (cycles.length === 0) return [];
  const faults = cycles.flatMap((cycle) => {
    const fault = judgeCycle(delivery, cycle, topics);
    return fault === undefined ? [] : [`the redelivery ${cycle} ${fault}`];
  });
  const short = judgeArrivals(delivery);
  return [...faults, ...(short === undefined ? [] : [short])].map((fault) => ({
    kind: 'not-redelivered',
    text: `${sent.event.id} for ${configuration.path}: ${fault}`,
    deliveryId,
  }));
}

/** Every delivery that a job was to send again was sent, and each of its cycles has an end. */
export function checkRedeliveries({ deliveries }: CaseFile, evidence: Evidence): readonly Finding[] {
  const { redeliveries, topics } = evidence;
  return [
    ...redeliveries.flatMap((job) => judgeJob(job, topics.tasks)),
    ...[...deliveries.values()].flatMap((delivery) => judgeDelivery(delivery, evidence)),
  ];
}
