import type { Fault } from '../fault.js';
import { PROCESSES, killProcess, runningId, untilBack } from '../world/processes.js';

/** SIGKILL, as a crash or a machine that is gone; the stack starts it again. */
const kill: Fault = {
  name: 'kill',
  lane: 'system',
  weight: 8,
  targets: PROCESSES,
  lasts: [0, 0],
  begin: (target, world) => {
    const pid = runningId(world, target);
    killProcess(world, target, pid);
    return Promise.resolve(() => untilBack(world, new Map([[target, pid]])));
  },
};

export default kill;
