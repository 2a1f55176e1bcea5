import type { DeadSeen, Evidence, TaskSeen } from '../evidence/evidence.js';
import type { CaseFile, Delivery, Finding } from './case-file.js';

/** Receivers and workers read the same clock, but not through the same function: a few milliseconds may lie between. */
const CLOCK_SLACK_MS = 50;

/** One attempt as somebody saw it begin. */
interface Begun {
  readonly attempt: number;
  readonly at: number;
}

const begunAttempts = ({ arrivals, entries }: Delivery): readonly Begun[] => [
  ...arrivals.map(({ attempt, receivedAt }) => ({ attempt, at: receivedAt })),
  ...entries.flatMap(({ entry }) =>
    entry.kind === 'attempt' ? [{ attempt: entry.attempt, at: entry.at }] : [],
  ),
];

/** The earliest time for which each attempt was planned. A first one needs no plan. */
function earliestDue(tasks: readonly TaskSeen[]): ReadonlyMap<number, number> {
  const due = new Map<number, number>();
  for (const { attempt, dueAt } of tasks)
    due.set(attempt, Math.min(dueAt, due.get(attempt) ?? Number.POSITIVE_INFINITY));
  return due;
}

type Fault = Pick<Finding, 'kind' | 'text'>;

function judgeBegun(
  { attempt, at }: Begun,
  due: ReadonlyMap<number, number>,
  most: number,
): Fault | undefined {
  if (attempt > most) return { kind: 'too-many-attempts', text: `attempt ${attempt} of at most ${most}` };
  if (attempt === 1) return undefined;
  const dueAt = due.get(attempt);
  if (dueAt === undefined)
    return { kind: 'from-nowhere', text: `attempt ${attempt}, which no retry planned` };
  if (at >= dueAt - CLOCK_SLACK_MS) return undefined;
  return { kind: 'too-early', text: `attempt ${attempt} ${Math.round(dueAt - at)} ms before it was due` };
}

/** A retry is due no earlier than the attempt before it began, plus the planned wait less its jitter. */
function judgeTask(
  { attempt, dueAt, history }: TaskSeen,
  { delaysMs, jitter }: Evidence['schedule'],
): Fault | undefined {
  const last = history.findLast((entry) => entry.attempt === attempt - 1);
  const planned = delaysMs[attempt - 2];
  if (!last || planned === undefined) return undefined;
  const least = Math.floor(planned * (1 - jitter));
  const waitMs = dueAt - last.at;
  if (waitMs >= least) return undefined;
  return {
    kind: 'wrong-delay',
    text: `attempt ${attempt} planned ${waitMs} ms after the last, not ${least}`,
  };
}

/** A dead letter comes of the last attempt: no run is as long as a delivery may get old, and all configurations are known. */
function judgeDead({ attempt, reason }: DeadSeen, most: number): Fault | undefined {
  if (reason === 'attempts-exhausted' && attempt === most) return undefined;
  return { kind: 'died-early', text: `a dead letter after attempt ${attempt} of ${most}: ${reason}` };
}

/** Attempts within the schedule: each planned by a retry, none before it is due, no more than there are, and none less before an end. */
export function checkSchedule({ deliveries }: CaseFile, { schedule }: Evidence): readonly Finding[] {
  const most = schedule.delaysMs.length + 1;
  return [...deliveries.values()].flatMap((delivery) => {
    const due = earliestDue(delivery.tasks);
    const faults = [
      ...begunAttempts(delivery).map((begun) => judgeBegun(begun, due, most)),
      ...delivery.tasks.map((task) => judgeTask(task, schedule)),
      ...delivery.dead.map((one) => judgeDead(one, most)),
    ];
    const fault = faults.find((one) => one !== undefined);
    return fault ? [{ ...fault, delivery }] : [];
  });
}
