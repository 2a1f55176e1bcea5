import type { Evidence, TaskSeen } from '../evidence/evidence.js';
import type { CaseFile, Delivery } from './case-file.js';
import type { Finding } from './finding.js';
import { metWrongClock } from './wrong-clock.js';
import { JUMP_MS } from '../whims/clock.js';

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

/** How many attempts there may be, and how early each may seem. */
interface Bounds {
  readonly most: number;
  readonly slackMs: number;
}

type Fault = Pick<Finding, 'kind' | 'text'>;

function judgeBegun(
  { attempt, at }: Begun,
  due: ReadonlyMap<number, number>,
  { most, slackMs }: Bounds,
): Fault | undefined {
  if (attempt > most) return { kind: 'too-many-attempts', text: `attempt ${attempt} of at most ${most}` };
  if (attempt === 1) return undefined;
  const dueAt = due.get(attempt);
  if (dueAt === undefined)
    return { kind: 'from-nowhere', text: `attempt ${attempt}, of which no retry tells` };
  if (at >= dueAt - slackMs) return undefined;
  return { kind: 'too-early', text: `attempt ${attempt} ${Math.round(dueAt - at)} ms before it was due` };
}

/** A retry is due no earlier than the attempt before it began, plus the planned wait less its jitter. */
function judgeTask(
  { attempt, dueAt, history }: TaskSeen,
  { delaysMs, jitter }: Evidence['schedule'],
  { slackMs }: Bounds,
): Fault | undefined {
  const last = history.findLast((entry) => entry.attempt === attempt - 1);
  const planned = delaysMs[attempt - 2];
  if (!last || planned === undefined) return undefined;
  const least = Math.floor(planned * (1 - jitter));
  const waitMs = dueAt - last.at;
  // One clock tells both times: only a jump between them is a reason.
  if (waitMs >= least || slackMs >= JUMP_MS) return undefined;
  return {
    kind: 'wrong-delay',
    text: `attempt ${attempt} planned ${waitMs} ms after the last, not ${least}`,
  };
}

/** Attempts within the schedule: each planned by a retry, none before it is due, no more than there are. */
export function checkSchedule({ deliveries }: CaseFile, { schedule, steps }: Evidence): readonly Finding[] {
  const findings: Finding[] = [];
  for (const delivery of deliveries.values()) {
    const { deliveryId, sent, configuration, tasks } = delivery;
    const due = earliestDue(tasks);
    const slackMs = CLOCK_SLACK_MS + (metWrongClock(delivery, steps) ? JUMP_MS : 0);
    const bounds = { most: schedule.delaysMs.length + 1, slackMs };
    const faults = [
      ...begunAttempts(delivery).map((begun) => judgeBegun(begun, due, bounds)),
      ...tasks.map((task) => judgeTask(task, schedule, bounds)),
    ];
    const fault = faults.find((one) => one !== undefined);
    if (!fault) continue;
    const text = `${sent.event.id} for ${configuration.path}: ${fault.text}`;
    findings.push({ kind: fault.kind, text, deliveryId });
  }
  return findings;
}

/** A dead letter comes of the last attempt. No run is as long as a delivery may get old, and all configurations are known. */
export function checkDead({ deliveries }: CaseFile, { schedule }: Evidence): readonly Finding[] {
  const most = schedule.delaysMs.length + 1;
  const early = [...deliveries.values()].flatMap(({ deliveryId, dead }) =>
    dead
      .filter(({ attempt, reason }) => reason !== 'attempts-exhausted' || attempt !== most)
      .map((one) => ({ ...one, deliveryId })),
  );
  return early.map(({ deliveryId, eventId, reason, attempt }) => ({
    kind: 'died-early',
    text: `${eventId} is a dead letter after attempt ${attempt} of ${most}: ${reason}`,
    deliveryId,
  }));
}
