import { cpus } from 'node:os';

/** Share of the time since the last look that the event loop was busy, or that no core was idle. */
const EVENT_LOOP_BUSY = 0.9;
const MACHINE_BUSY = 0.95;

interface CoreTimes {
  readonly idle: number;
  readonly all: number;
}

function coreTimes(): CoreTimes {
  let [idle, all] = [0, 0];
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idle, all };
}

/**
 * Tells at each call whether CPU time was what was missing since the call before: then slow answers say little about the
 * endpoints. One's own event loop, and the machine, because a starved receiver beside us is as slow as a starved worker.
 */
export function createSaturation(): () => boolean {
  let loop = performance.eventLoopUtilization();
  let cores = coreTimes();
  return () => {
    const [loopBefore, coresBefore] = [loop, cores];
    [loop, cores] = [performance.eventLoopUtilization(), coreTimes()];
    const { utilization } = performance.eventLoopUtilization(loop, loopBefore);
    const idle = (cores.idle - coresBefore.idle) / Math.max(1, cores.all - coresBefore.all);
    return utilization > EVENT_LOOP_BUSY || 1 - idle > MACHINE_BUSY;
  };
}
