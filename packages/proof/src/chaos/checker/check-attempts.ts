import type { DeadSeen, Evidence, TaskSeen } from '../evidence/evidence.js';
import { isSuccess, judgeEach } from './case-file.js';
import type { CaseFile, Delivery, Fault, Finding } from './case-file.js';
import type { DoneStep } from '../plan.js';
import { findDisturbances } from './owed.js';

/** Receivers and workers read the same clock through different functions, which may differ by a few milliseconds. */
const CLOCK_SLACK_MS = 50;

/** The begin of an attempt. */
interface Begun {
  readonly attempt: number;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Returns the attempts that receivers or workers saw begin. */
const begunAttempts = ({ arrivals, entries }: Delivery): readonly Begun[] => [
  ...arrivals.map(({ attempt, receivedAt: at }) => ({ attempt, at })),
  ...entries.flatMap(({ entry }) => (entry.kind === 'attempt' ? [entry] : [])),
];

/** A first attempt needs no task. Of several tasks for an attempt the earliest wins. */
function judgeBegun({ attempt, at }: Begun, { tasks }: Delivery, maxAttempts: number): Fault | undefined {
  if (attempt > maxAttempts)
    return { kind: 'too-many-attempts', text: `attempt ${attempt} of at most ${maxAttempts}` };
  if (attempt === 1) return undefined;
  const planned = tasks.filter((task) => task.attempt === attempt);
  if (planned.length === 0)
    return { kind: 'unscheduled-attempt', text: `no retry scheduled attempt ${attempt}` };
  const dueAt = Math.min(...planned.map((task) => task.dueAt));
  if (at >= dueAt - CLOCK_SLACK_MS) return undefined;
  return { kind: 'too-early', text: `attempt ${attempt} began ${Math.round(dueAt - at)} ms too early` };
}

/** A retry is due no earlier than the attempt before it began, plus the planned wait less its jitter. */
function judgeTask(
  { attempt, dueAt, history }: TaskSeen,
  { delaysMs, jitter }: Evidence['schedule'],
): Fault | undefined {
  const last = history.findLast((entry) => entry.attempt === attempt - 1);
  const planned = delaysMs[attempt - 2];
  if (!last || planned === undefined) return undefined;
  const minDelayMs = Math.floor(planned * (1 - jitter));
  const waitMs = dueAt - last.at;
  if (waitMs >= minDelayMs) return undefined;
  return {
    kind: 'wrong-delay',
    text: `attempt ${attempt} was due ${waitMs} ms after the last, expected at least ${minDelayMs} ms`,
  };
}

/**
 * Only the last attempt may lead to a dead letter. A run is shorter than the maximum age, and every configuration is known, so no other
 * reason applies.
 */
function judgeDead({ attempt, reason }: DeadSeen, maxAttempts: number): Fault | undefined {
  if (reason === 'attempts-exhausted' && attempt === maxAttempts) return undefined;
  return { kind: 'died-early', text: `a dead letter after attempt ${attempt} of ${maxAttempts}: ${reason}` };
}

/** Attempts follow the schedule: each was planned by a retry, none begins before it is due. Only the last one may lead to a dead letter. */
export function checkSchedule(file: CaseFile, { schedule }: Evidence): readonly Finding[] {
  const maxAttempts = schedule.delaysMs.length + 1;
  return judgeEach(file, (delivery) => {
    const faults = [
      ...begunAttempts(delivery).map((begun) => judgeBegun(begun, delivery, maxAttempts)),
      ...delivery.tasks.map((task) => judgeTask(task, schedule)),
      ...delivery.dead.map((one) => judgeDead(one, maxAttempts)),
    ];
    return faults.find((one) => one !== undefined);
  });
}

/**
 * A delivery may be repeated when it was in flight, or finished but not committed. An attempt takes up to 10 s and holds back the commits
 * of its partition; 2 s are for everything else.
 */
const HELD_MS = 12_000;

/**
 * Whether something was broken between 12 s before the event was sent and 12 s after a 2xx. The check ignores which worker and which
 * partition a fault hit. In a run that breaks something every few seconds it therefore excuses nearly every repeat.
 */
const isExplained = (at: number, sentAt: number, steps: readonly DoneStep[]): boolean =>
  steps.some(({ startedAt, endedAt }) => startedAt <= at + HELD_MS && endedAt >= sentAt - HELD_MS);

/** Checks that a copy of the event, or a fault before a 2xx or soon after it, explains each repeat. */
export function checkRepeats(
  file: CaseFile,
  { steps, redelivered }: Evidence,
): { readonly repeats: number; readonly findings: readonly Finding[] } {
  let repeats = 0;
  const findings = judgeEach(file, ({ deliveryId, arrivals, sent, copies, configuration }) => {
    const successes = arrivals.filter(isSuccess).map(({ receivedAt }) => receivedAt);
    // All but the last one, because no repeat followed it, and one more for each redelivery, which was requested.
    const others = 1 + (redelivered?.get(deliveryId) ?? 0);
    const earlier = successes.sort((a, b) => a - b).slice(0, -others);
    if (earlier.length === 0) return undefined;
    repeats += earlier.length;
    const disturbances = findDisturbances(steps, configuration.receiver);
    const unexplained = earlier.filter((at) => !isExplained(at, sent.sentAt, disturbances)).length;
    if (unexplained < copies.length) return undefined;
    const text = `was delivered again, although no fault up to ${HELD_MS / 1_000} s after its 2xx explains it`;
    return { kind: 'unexplained-repeat', text };
  });
  return { repeats, findings };
}
