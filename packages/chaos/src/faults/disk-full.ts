import type { Fault } from '../fault.js';
import { ENGINES, disksOf } from '../world/disks.js';
import type { EngineName } from '../world/disks.js';
import { killProcess, runningId, untilBack, whatRuns } from '../world/processes.js';

/**
 * Not a byte is left for an engine's data (F25). It may end by itself, and cannot start again meanwhile. Then there is room,
 * and it is started anew, as an operator would do: one that met a full disk may go on without writing.
 */
const diskFull: Fault = {
  name: 'disk-full',
  lane: 'system',
  weight: 1,
  targets: ENGINES,
  lasts: [3_000, 20_000],
  alone: true,
  begin: async (target, world) => {
    const engine = target as EngineName;
    const disks = disksOf(world);
    const pid = runningId(world, target);
    await disks.fill(engine);
    return async () => {
      disks.makeRoom(engine);
      if (whatRuns(world, [target]).get(target) === pid) killProcess(world, target, pid);
      await untilBack(world, new Map([[target, pid]]));
    };
  },
};

export default diskFull;
