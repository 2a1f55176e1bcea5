import type { Fault } from '../fault.js';
import { PROCESSES, runningId, signalProcess, untilBack } from '../world/processes.js';

/** SIGTERM, as each deployment does; the stack starts it again. */
const terminate: Fault = {
  name: 'terminate',
  lane: 'system',
  weight: 2,
  targets: PROCESSES,
  lasts: [0, 0],
  begin: (target, world) => {
    const pid = runningId(world, target);
    signalProcess(pid, 'SIGTERM');
    return Promise.resolve(() => untilBack(world, new Map([[target, pid]])));
  },
};

export default terminate;
