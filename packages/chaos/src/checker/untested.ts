import { isMade } from '../generator/changes.js';
import type { Change } from '../generator/changes.js';
import type { SentEvent } from '../generator/journal.js';
import type { Step } from '../plan/plan.js';
import type { DoneStep } from '../run-plan.js';
import type { Configuration } from '../world/configurations.js';
import { findHindrances } from './disturbances.js';
import { mayEndUnread } from './never-begun.js';
import { findToggles, promisedFor } from './owed.js';

/** What a run did. */
export interface Tried {
  readonly planned: readonly Pick<Step, 'fault'>[];
  readonly steps: readonly DoneStep[];
  readonly configurations: readonly Configuration[];
  readonly sent: ReadonlyMap<string, SentEvent>;
  readonly changes: readonly Change[];
  readonly redeliveries: readonly unknown[];
}

const isDone = ({ outcome }: Tried['steps'][number]): boolean => outcome !== 'passed-over';

const plannedFaults = ({ planned }: Tried): readonly string[] => [
  ...new Set(planned.map(({ fault }) => fault)),
];

/** Changes without which the checks of them have nothing to look at. */
const CHANGES = [
  { what: 'disable', name: 'disablings' },
  { what: 'move', name: 'moves' },
  { what: 'rotate', name: 'new secrets' },
] as const;

/** Checks that had nothing to look at, in words. */
function findIdle({ changes, redeliveries }: Tried): readonly string[] {
  const made = new Set(changes.filter(isMade).map(({ asked }) => asked.what));
  return [
    ...(redeliveries.length > 0 ? [] : ['redeliveries (none was begun)']),
    ...CHANGES.filter(({ what }) => !made.has(what)).map(({ name }) => `${name} (none was made)`),
  ];
}

/**
 * Kinds of fault of which a run says nothing, in words: their turn did not come, because what was before them took longer, or
 * there was nothing to hit each time, as a disk where we are not root. Behind them, checks that had nothing to look at.
 */
export function findLeftOut(tried: Tried): readonly string[] {
  const byFault = Map.groupBy(tried.steps, ({ fault }) => fault);
  const faults = plannedFaults(tried).flatMap((fault) => {
    const own = byFault.get(fault) ?? [];
    if (own.some(isDone)) return [];
    return [`${fault} (${own.at(-1)?.why ?? 'the time was over'})`];
  });
  return [...faults, ...findIdle(tried)];
}

function untestedDoors({ sent }: Tried): readonly string[] {
  const all = [...sent.values()];
  return (['ingest', 'topic'] as const)
    .filter((name) => !all.some(({ door, acceptedAt }) => door === name && acceptedAt !== undefined))
    .map((name) => `the door ${name} (it accepted nothing)`);
}

const isFor = ({ event }: SentEvent, { tenantId, eventType }: Configuration): boolean =>
  event.tenantId === tenantId && event.eventType === eventType;

/**
 * Whether an event for a toggled configuration would have been missed: it was accepted while that was enabled, and read for
 * sure before that was disabled. It was appended before it was acknowledged, so that it was read by the time counted from
 * there.
 */
function hasOwedToToggled({ configurations, sent, changes, steps }: Tried): boolean {
  const toggles = findToggles(changes);
  const hindrances = findHindrances(steps);
  const isOwed = (one: SentEvent, configuration: Configuration): boolean => {
    const { sentAt, acceptedAt } = one;
    if (acceptedAt === undefined || !isFor(one, configuration)) return false;
    if (promisedFor({ sent: one, configuration, copies: [] }, toggles) === 'nothing') return false;
    return !mayEndUnread(
      { sentAt, appendedAt: acceptedAt },
      toggles.get(configuration.ref) ?? [],
      hindrances,
    );
  };
  return configurations
    .filter(({ treatment }) => treatment === 'toggled')
    .some((configuration) => [...sent.values()].some((one) => isOwed(one, configuration)));
}

/** What makes a balanced ledger worth nothing, because the run never did it: any fault, a door, changes. */
export const findUntested = (tried: Tried): readonly string[] => [
  ...(tried.planned.length > 0 && !tried.steps.some(isDone) ? ['any fault (none was done)'] : []),
  ...untestedDoors(tried),
  ...(tried.changes.some(isMade) ? [] : ['changes of configurations (none was made)']),
  ...(hasOwedToToggled(tried) ? [] : ['toggled configurations (nothing was surely owed to one)']),
];
