import { readFileSync } from 'node:fs';

/** CPU time of the whole machine so far, in the kernel's ticks. */
interface MachineTicks {
  readonly busy: number;
  readonly all: number;
}

/** Reads the first line of a /proc/stat (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal. */
export function parseMachineTicks(stat: string): MachineTicks {
  const [, ...fields] = (stat.split('\n')[0] ?? '').trim().split(/\s+/).map(Number);
  // Guest time, the ninth and tenth field, is contained in user and nice.
  const all = fields.slice(0, 8).reduce((sum, ticks) => sum + ticks, 0);
  return { all, busy: all - (fields[3] ?? 0) - (fields[4] ?? 0) };
}

const TICK_MICROS = 10_000;
const look = (): MachineTicks => parseMachineTicks(readFileSync('/proc/stat', 'utf8'));

/** Begins a span over the machine; the call that comes back gives the share (percent) that others than `ownMicros` took. */
export function beginMachineUsage(): (ownMicros: number) => number {
  const before = look();
  return (ownMicros) => {
    const now = look();
    const othersTicks = now.busy - before.busy - ownMicros / TICK_MICROS;
    return Math.max(0, (100 * othersTicks) / Math.max(1, now.all - before.all));
  };
}
