import type { Fault } from '../fault.js';
import { JUMP_MS, mendClock, setClock } from '../whims/clock.js';
import { SERVICES, runningId } from './processes.js';

/** The clock of a service jumps by ten minutes, and back at the end; one that is killed meanwhile comes back with the right time. */
export const jumpClock = (about: Pick<Fault, 'name'>, direction: 1 | -1): Fault => ({
  ...about,
  lane: 'system',
  weight: 1,
  targets: SERVICES,
  lasts: [3_000, 20_000],
  begin: (target, world) => {
    const pid = runningId(world, target);
    setClock(world.clocksDir, pid, direction * JUMP_MS);
    return Promise.resolve(() => {
      mendClock(world.clocksDir, pid);
      return Promise.resolve();
    });
  },
});
