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

/** Kinds of fault whose turn came, and that were passed over each time. */
function untestedFaults(tried: Tried): readonly string[] {
  const byFault = Map.groupBy(tried.steps, ({ fault }) => fault);
  return plannedFaults(tried).flatMap((fault) => {
    const own = byFault.get(fault) ?? [];
    if (own.length === 0 || own.some(isDone)) return [];
    return [`the fault ${fault} (${own.at(-1)?.why ?? 'passed over'})`];
  });
}

/** Kinds of fault whose turn did not come, because what was before them took longer: of these a run says nothing. */
export function findLeftOut(tried: Tried): readonly string[] {
  const begun = new Set(tried.steps.map(({ fault }) => fault));
  return plannedFaults(tried).filter((fault) => !begun.has(fault));
}

function untestedDoors({ sent }: Tried): readonly string[] {
  const all = [...sent.values()];
  return (['ingest', 'topic'] as const)
    .filter((name) => !all.some(({ door, acceptedAt }) => door === name && acceptedAt !== undefined))
    .map((name) => `the door ${name} (it accepted nothing)`);
}

/** What a balanced ledger says nothing of, because the run never did it: planned faults, doors, changes. */
export const findUntested = (tried: Tried): readonly string[] => [
  ...(tried.planned.length > 0 && !tried.steps.some(isDone) ? ['any fault (none was done)'] : []),
  ...untestedFaults(tried),
  ...untestedDoors(tried),
  ...(tried.changes.some(isMade) ? [] : ['changes of configurations (none was made)']),
];
