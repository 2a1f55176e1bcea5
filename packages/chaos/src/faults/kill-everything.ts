import { NotNow } from '../fault.js';
import type { Fault } from '../fault.js';
import { PROCESSES, killProcess, untilBack, whatRuns } from '../world/processes.js';

/** SIGKILL to all that runs at once, as when the power fails. */
const killEverything: Fault = {
  name: 'kill-everything',
  lane: 'system',
  weight: 1,
  targets: ['everything'],
  lasts: [0, 0],
  begin: (_target, world) => {
    const before = whatRuns(world, PROCESSES);
    if (before.size === 0) throw new NotNow('nothing runs');
    for (const [name, pid] of before) killProcess(world, name, pid);
    return Promise.resolve(() => untilBack(world, before));
  },
};

export default killEverything;
