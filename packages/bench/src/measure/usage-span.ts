import { forgetPeak, usageOf } from './process-usage.js';
import type { ProcessUsage } from './process-usage.js';

/** What one process used between two looks. */
export interface SpanUsage {
  readonly name: string;
  readonly cpuMicros: number;
  /** Resident memory at the end and at its highest, and by how much it grew, in bytes. */
  readonly rssBytes: number;
  readonly peakBytes: number;
  readonly grownBytes: number;
}

export type Pids = Readonly<Record<string, number>>;

/** Begins a span over named processes. The call that comes back ends it; a process that is new in `pids` began at nothing. */
export function beginUsage(pids: Pids): (endPids?: Pids) => readonly SpanUsage[] {
  for (const pid of Object.values(pids)) forgetPeak(pid);
  const before = new Map<number, ProcessUsage>(Object.values(pids).map((pid) => [pid, usageOf(pid)]));
  return (endPids = pids) =>
    Object.entries(endPids).map(([name, pid]) => {
      const [first, last] = [before.get(pid), usageOf(pid)];
      return {
        name,
        cpuMicros: last.cpuMicros - (first?.cpuMicros ?? 0),
        rssBytes: last.rssBytes,
        peakBytes: last.peakBytes,
        grownBytes: last.rssBytes - (first?.rssBytes ?? 0),
      };
    });
}

/** CPU of some of the processes together, in microseconds. */
export function cpuOf(usage: readonly SpanUsage[], isWanted: (name: string) => boolean): number {
  return usage.reduce((sum, { name, cpuMicros }) => sum + (isWanted(name) ? cpuMicros : 0), 0);
}
