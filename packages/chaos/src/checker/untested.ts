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

/** Why a kind of fault broke nothing; undefined when it did once. */
function whyNot(fault: string, steps: Tried['steps']): string | undefined {
  const own = steps.filter((step) => step.fault === fault);
  if (own.some(({ outcome }) => outcome !== 'passed-over')) return undefined;
  return own.at(-1)?.why ?? 'the time was over before';
}

function untestedFaults({ planned, steps }: Tried): readonly string[] {
  return [...new Set(planned.map(({ fault }) => fault))].flatMap((fault) => {
    const why = whyNot(fault, steps);
    return why === undefined ? [] : [`the fault ${fault} (${why})`];
  });
}

function untestedDoors({ sent }: Tried): readonly string[] {
  const all = [...sent.values()];
  return (['ingest', 'topic'] as const)
    .filter((name) => !all.some(({ door, acceptedAt }) => door === name && acceptedAt !== undefined))
    .map((name) => `the door ${name} (it accepted nothing)`);
}

/** What a balanced ledger says nothing of, because the run never did it: planned faults, doors, changes. */
export const findUntested = (tried: Tried): readonly string[] => [
  ...untestedFaults(tried),
  ...untestedDoors(tried),
  ...(tried.changes.some(isMade) ? [] : ['changes of configurations (none was made)']),
];
