import type { Fault } from '../fault.js';
import { PROCESSES, runningId, signalProcess, untilBack } from '../world/processes.js';

/** SIGKILL to all at once, as when the power fails. */
const killEverything: Fault = {
  name: 'kill-everything',
  lane: 'system',
  weight: 1,
  targets: ['everything'],
  lasts: [0, 0],
  begin: (_target, world) => {
    const before = new Map(PROCESSES.map((name) => [name, runningId(world, name)]));
    for (const pid of before.values()) signalProcess(pid, 'SIGKILL');
    return Promise.resolve(() => untilBack(world, before));
  },
};

export default killEverything;
