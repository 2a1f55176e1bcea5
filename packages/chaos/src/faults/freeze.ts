import type { Fault } from '../fault.js';
import { PROCESSES, runningId, signalProcess } from '../world/processes.js';
import { untilReadyOrReplaced } from '../world/readiness.js';

/** SIGSTOP and, later, SIGCONT: a machine that was paused comes back and believes that nothing has happened. */
const freeze: Fault = {
  name: 'freeze',
  lane: 'system',
  weight: 3,
  targets: PROCESSES,
  lasts: [1_000, 60_000],
  begin: (target, world) => {
    const pid = runningId(world, target);
    signalProcess(pid, 'SIGSTOP');
    return Promise.resolve(() => {
      signalProcess(pid, 'SIGCONT');
      return untilReadyOrReplaced(world, target, pid);
    });
  },
};

export default freeze;
