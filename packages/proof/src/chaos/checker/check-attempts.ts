import type { DeadSeen, Evidence, TaskSeen } from '../evidence/evidence.js';
import { isSuccess, judgeEach } from './case-file.js';
import type { CaseFile, Delivery, Fault, Finding } from './case-file.js';
import type { DoneStep } from '../plan.js';
import { findDisturbances } from './owed.js';

/** Receivers and workers read the same clock, but not through the same function: a few milliseconds may lie between. */
const CLOCK_SLACK_MS = 50;

/** The attempts as receivers and workers saw them begin. */
const begunAttempts = ({ arrivals, entries }: Delivery) => [
  ...arrivals.map(({ attempt, receivedAt: at }) => ({ attempt, at })),
  ...entries.flatMap(({ entry }) => (entry.kind === 'attempt' ? [entry] : [])),
];
type Begun = Pick<ReturnType<typeof begunAttempts>[number], 'attempt' | 'at'>;

/** A first attempt needs no plan. Of several plans for an attempt the earliest counts. */
function judgeBegun({ attempt, at }: Begun, tasks: readonly TaskSeen[], most: number): Fault | undefined {
  if (attempt > most) return { kind: 'too-many-attempts', text: `attempt ${attempt} of at most ${most}` };
  if (attempt === 1) return undefined;
  const planned = tasks.filter((task) => task.attempt === attempt);
  if (planned.length === 0)
    return { kind: 'unscheduled-attempt', text: `attempt ${attempt}, which no retry planned` };
  const dueAt = Math.min(...planned.map((task) => task.dueAt));
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

/** Attempts follow the schedule: a retry planned each, none begins before it is due, and a delivery dies after the last one only. */
export function checkSchedule(file: CaseFile, { schedule }: Evidence): readonly Finding[] {
  const most = schedule.delaysMs.length + 1;
  return judgeEach(file, (delivery) => {
    const faults = [
      ...begunAttempts(delivery).map((begun) => judgeBegun(begun, delivery.tasks, most)),
      ...delivery.tasks.map((task) => judgeTask(task, schedule)),
      ...delivery.dead.map((one) => judgeDead(one, most)),
    ];
    return faults.find((one) => one !== undefined);
  });
}

/**
 * A delivery may come twice when it was in flight, or finished and not committed. An attempt takes 10 s at most, and holds the
 * commits of its partition back; 2 s are for everything else.
 */
const HELD_MS = 12_000;

/**
 * Whether something was broken between the event and 12 s after a 2xx. The check ignores which worker and which partition a fault
 * hit. In a run that breaks something every few seconds it therefore excuses nearly every repeat.
 */
const isExplained = (at: number, sentAt: number, steps: readonly DoneStep[]): boolean =>
  steps.some(({ startedAt, endedAt }) => startedAt <= at + HELD_MS && endedAt >= sentAt - HELD_MS);

/** Each further 2xx is explained by a copy of the event, or by something that was broken before it or soon after. */
export function checkRepeats(
  file: CaseFile,
  { steps }: Evidence,
): { readonly repeats: number; readonly findings: readonly Finding[] } {
  let repeats = 0;
  const findings = judgeEach(file, ({ arrivals, sent, copies, configuration }) => {
    const successes = arrivals.filter(isSuccess).map(({ receivedAt }) => receivedAt);
    // All but the last one, which nothing repeated.
    const earlier = successes.sort((a, b) => a - b).slice(0, -1);
    if (earlier.length === 0) return undefined;
    repeats += earlier.length;
    const disturbances = findDisturbances(steps, configuration.receiver);
    const unexplained = earlier.filter((at) => !isExplained(at, sent.sentAt, disturbances)).length;
    if (unexplained < copies.length) return undefined;
    const text = `came again though nothing that repeats was broken until ${HELD_MS / 1_000} s after its 2xx`;
    return { kind: 'unexplained-repeat', text };
  });
  return { repeats, findings };
}
