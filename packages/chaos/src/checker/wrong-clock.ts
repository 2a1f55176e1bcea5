import type { EntrySeen } from '../evidence/evidence.js';
import type { DoneStep } from '../run-plan.js';
import { wrongBy } from '../whims/clock.js';
import type { Delivery } from './case-file.js';

const JUMPS: ReadonlySet<string> = new Set(['clock-ahead', 'clock-back']);
/** An attempt that began by a wrong clock ends within 10 s, and is told of within two more. */
const UNDER_WAY_MS = 12_000;

/** When something happened to the delivery, by clocks that never jump: the receivers' and the broker's. */
const timesOf = ({ arrivals, tasks, entries }: Delivery): readonly number[] => [
  ...arrivals.map(({ receivedAt }) => receivedAt),
  ...[...tasks, ...entries].map(({ place }) => place.appendedAt),
];

/**
 * Whether a worker whose clock was wrong may have had to do with the delivery: it attempts what the others planned up to ten
 * minutes early or late, and the others what it planned.
 */
export function metWrongClock(delivery: Delivery, steps: readonly DoneStep[]): boolean {
  const jumps = steps.filter(({ fault, target }) => JUMPS.has(fault) && target.startsWith('delivery-worker'));
  if (jumps.length === 0) return false;
  return timesOf(delivery).some((at) =>
    jumps.some(({ startedAt, endedAt }) => at >= startedAt && at <= endedAt + UNDER_WAY_MS),
  );
}

/** Whether it waits for a time that a clock told which was ahead. */
export const waitsForWrongTime = ({ tasks }: Delivery): boolean =>
  tasks.some(({ dueAt, place }) => wrongBy(dueAt, place.appendedAt) > 0);

/** When what an entry tells of happened, Unix milliseconds, by a clock that did not jump. */
export const toldAt = ({ place, entry }: EntrySeen): number => entry.at - wrongBy(entry.at, place.appendedAt);
