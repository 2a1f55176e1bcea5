import { isMade } from './changes.js';
import type { Asked, Change } from './changes.js';
import { movedPath } from '../world/configurations.js';
import type { Configuration } from '../world/configurations.js';

/** How far a configuration is: which change is its next, and from when on it may be asked for, milliseconds of `performance.now()`. */
export interface Turn {
  readonly nth: number;
  readonly notBefore: number;
}

export const FIRST_TURN: Turn = { nth: 0, notBefore: 0 };

/**
 * How long a toggled configuration stays enabled, and is left so at the end of a run. It is in force after 1 s, and an event
 * is read within 5 s (`never-begun.ts`): what is sent in between is surely owed, and is missed when it vanishes.
 */
export const ENABLED_MS = 15_000;

/** What is asked of a configuration in this turn. */
export function askFor(configuration: Configuration, { nth }: Turn): Asked {
  const isOdd = nth % 2 === 1;
  if (configuration.treatment === 'signed') return { what: 'rotate' };
  if (configuration.treatment === 'toggled') return { what: isOdd ? 'enable' : 'disable' };
  return { what: 'move', path: isOdd ? configuration.path : movedPath(configuration) };
}

/** Whether it is asked for now, in a run that ends at `until`. */
export const isDue = ({ what }: Asked, { notBefore }: Turn, now: number, until: number): boolean =>
  now >= notBefore && (what !== 'disable' || now + ENABLED_MS <= until);

/**
 * The turn after a change was asked for. What failed is asked for again, so that turns alternate by what was answered; but a
 * disabling that failed may have been made all the same, and an enabling sets that right.
 */
export function turnAfter(turn: Turn, change: Change, now: number): Turn {
  const next = { nth: turn.nth + 1, notBefore: now };
  switch (change.asked.what) {
    case 'disable':
      return next;
    case 'enable':
      return isMade(change) ? { ...next, notBefore: now + ENABLED_MS } : turn;
    case 'move':
    case 'rotate':
      return change.answeredAt === undefined ? turn : next;
  }
}
