import { NotNow } from '../fault.js';
import type { Fault } from '../fault.js';
import { ENGINES, disksOf } from '../world/disks.js';
import type { EngineName } from '../world/disks.js';
import { killProcess, runningId, untilBack } from '../world/processes.js';

/** An engine dies, and its disk comes back read-only, as after an error of the file system; then it can be written again (F25). */
const diskReadOnly: Fault = {
  name: 'disk-read-only',
  lane: 'system',
  weight: 1,
  targets: ENGINES,
  lasts: [3_000, 20_000],
  alone: true,
  begin: async (target, world) => {
    const engine = target as EngineName;
    const disks = disksOf(world);
    const pid = runningId(world, target);
    killProcess(world, target, pid);
    await disks.makeReadOnly(engine).catch(async (error: unknown) => {
      await untilBack(world, new Map([[target, pid]]));
      throw new NotNow(`it was started again before its disk was read-only: ${String(error)}`);
    });
    return async () => {
      await disks.makeWritable(engine);
      await untilBack(world, new Map([[target, pid]]));
    };
  },
};

export default diskReadOnly;
