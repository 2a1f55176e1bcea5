import { TOPICS } from '@webhooks/contracts';
import type { Evidence } from '../evidence/evidence.js';
import type { DoneStep } from '../run-plan.js';
import type { CaseFile, Delivery } from './case-file.js';
import { findDisturbances } from './disturbances.js';
import { isSuccess } from './fate.js';
import type { Finding } from './finding.js';

/**
 * What may come twice was in flight or finished and not committed. That is as old as an attempt may take
 * (10 s, one that hangs holds the commits of its partition back), a commit a second, and a second for everything else.
 *
 * It does not see which worker and which partition a fault hit: every 2xx of those seconds may repeat. A run that breaks
 * workers or the broker more often than every 24 s has hardly a moment for which this check says anything; what it has
 * then is the total of repeats beside its bound.
 */
const HELD_MS = 12_000;

/** The target of a reset of `webhooks.deliveries`; the other one is of the events. */
const RESET_OF_DELIVERIES = 'delivery-worker.deliveries';

export interface RepeatTotals {
  /** Further 2xx of a delivery that had one. */
  readonly repeats: number;
  /** How many there may be: 2xx that were held when something was broken, further copies of an event, and redeliveries. */
  readonly bound: number;
}

/** Further copies of the event, and tasks of jobs that send it again: each may bring one 2xx more. */
const countCopies = ({ copies, tasks }: Delivery): number =>
  Math.max(0, copies.length - 1) +
  tasks.filter(({ cycle, place }) => cycle !== '0' && place.topic === TOPICS.deliveries).length;

const isHeld = (at: number, steps: readonly DoneStep[]): boolean =>
  steps.some(({ startedAt, endedAt }) => at >= startedAt - HELD_MS && at <= endedAt + HELD_MS);

/** Whether the group that was reset reads the event, or a task, of this delivery once more. */
const isReadAgain = ({ tasks }: Delivery, { target }: DoneStep): boolean =>
  target !== RESET_OF_DELIVERIES || tasks.some(({ place }) => place.topic === TOPICS.deliveries);

/** After a reset everything that came before it may come once more. */
const isReset = (at: number, delivery: Delivery, steps: readonly DoneStep[]): boolean =>
  steps.some(
    (step) =>
      step.fault === 'reset-offsets' &&
      step.outcome !== 'passed-over' &&
      at <= step.endedAt &&
      isReadAgain(delivery, step),
  );

interface Judged {
  readonly repeats: number;
  readonly held: number;
  readonly unexplained: boolean;
}

/** Each further 2xx is explained by a copy of the event or a redelivery, or by the one before it having been held. */
function judge(delivery: Delivery, steps: readonly DoneStep[]): Judged {
  const times = delivery.arrivals
    .filter(isSuccess)
    .map(({ receivedAt }) => receivedAt)
    .sort((a, b) => a - b);
  const disturbances = findDisturbances(steps, delivery.configuration.receiver);
  const isExplained = (at: number): boolean =>
    isHeld(at, disturbances) || isReset(at, delivery, disturbances);
  const copies = countCopies(delivery);
  const unexplained = times.slice(0, -1).filter((at) => !isExplained(at)).length > copies;
  return {
    repeats: Math.max(0, times.length - 1),
    held: times.filter(isExplained).length + copies,
    unexplained,
  };
}

export function checkRepeats(
  { deliveries }: CaseFile,
  { steps }: Evidence,
): { readonly totals: RepeatTotals; readonly findings: readonly Finding[] } {
  let [repeats, bound] = [0, 0];
  const findings: Finding[] = [];
  for (const delivery of deliveries.values()) {
    const judged = judge(delivery, steps);
    repeats += judged.repeats;
    bound += judged.held;
    if (!judged.unexplained) continue;
    const { deliveryId, sent, configuration } = delivery;
    const text = `${sent.event.id} came again to ${configuration.path} though nothing that repeats was broken for ${HELD_MS / 1_000} s around its 2xx`;
    findings.push({ kind: 'unexplained-repeat', text, deliveryId });
  }
  return { totals: { repeats, bound }, findings };
}
