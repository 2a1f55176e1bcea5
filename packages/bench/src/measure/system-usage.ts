import { beginMachineUsage } from './machine-usage.js';
import { beginUsage, cpuOf } from './usage-span.js';
import type { Pids, SpanUsage } from './usage-span.js';

export interface SystemUsage {
  /** By process. */
  readonly usage: readonly SpanUsage[];
  /** Share of the machine's CPU that anyone else took meanwhile, in percent. */
  readonly othersPercent: number;
}

/** Begins a span over named processes and the machine around them; see `beginUsage`. */
export function beginSystemUsage(pids: Pids): (endPids?: Pids) => SystemUsage {
  const endUsage = beginUsage(pids);
  const endMachineUsage = beginMachineUsage();
  return (endPids) => {
    const usage = endUsage(endPids);
    return { usage, othersPercent: endMachineUsage(cpuOf(usage, () => true)) };
  };
}
