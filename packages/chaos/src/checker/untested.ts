import { isMade } from '../generator/changes.js';
import type { Change } from '../generator/changes.js';
import type { SentEvent } from '../generator/journal.js';
import type { Step } from '../plan/plan.js';
import type { DoneStep } from '../run-plan.js';

/** What a run did. */
export interface Tried {
  readonly planned: readonly Pick<Step, 'fault'>[];
  readonly steps: readonly Pick<DoneStep, 'fault' | 'outcome' | 'why'>[];
  readonly sent: ReadonlyMap<string, Pick<SentEvent, 'door' | 'acceptedAt'>>;
  readonly changes: readonly Change[];
}

const isDone = ({ outcome }: Tried['steps'][number]): boolean => outcome !== 'passed-over';

const plannedFaults = ({ planned }: Tried): readonly string[] => [
  ...new Set(planned.map(({ fault }) => fault)),
];

/**
 * Kinds of fault of which a run says nothing, in words: their turn did not come, because what was before them took longer, or
 * there was nothing to hit each time, as a disk where we are not root.
 */
export function findLeftOut(tried: Tried): readonly string[] {
  const byFault = Map.groupBy(tried.steps, ({ fault }) => fault);
  return plannedFaults(tried).flatMap((fault) => {
    const own = byFault.get(fault) ?? [];
    if (own.some(isDone)) return [];
    return [`${fault} (${own.at(-1)?.why ?? 'the time was over'})`];
  });
}

function untestedDoors({ sent }: Tried): readonly string[] {
  const all = [...sent.values()];
  return (['ingest', 'topic'] as const)
    .filter((name) => !all.some(({ door, acceptedAt }) => door === name && acceptedAt !== undefined))
    .map((name) => `the door ${name} (it accepted nothing)`);
}

/** What makes a balanced ledger worth nothing, because the run never did it: any fault, a door, changes. */
export const findUntested = (tried: Tried): readonly string[] => [
  ...(tried.planned.length > 0 && !tried.steps.some(isDone) ? ['any fault (none was done)'] : []),
  ...untestedDoors(tried),
  ...(tried.changes.some(isMade) ? [] : ['changes of configurations (none was made)']),
];
