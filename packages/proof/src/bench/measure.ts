import { readFileSync, readdirSync } from 'node:fs';
import type { Totals } from '@webhooks/testkit/account';

/**
 * Microseconds of the machine's monotonic clock. All processes of one machine share its zero, so a time taken by the
 * generator can be compared with one taken by the receiver. It never jumps. (`performance.now` has a zero of its own in
 * each process.)
 */
export const monotonicMicros = (): number => Number(process.hrtime.bigint()) / 1_000;

/**
 * Percentiles of times, in the same unit. Nearest rank: the smallest value such that at least this share of all values is equal or less. NaN when
 * there are no times.
 */
export function percentilesOf(micros: Iterable<number>) {
  const sorted = Float64Array.from(micros).sort();
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), max: at(1) };
}
export type Percentiles = ReturnType<typeof percentilesOf>;

/** Process ids by name. */
export type Pids = Readonly<Record<string, number>>;

/** What the kernel counts for a process. */
interface Counters {
  /** User and system time, in microseconds. */
  readonly cpuMicros: number;
  /** How often its threads waited for something: each wait ends with one waking up. */
  readonly wakeUps: number;
  /** Reads and writes of sockets and files, and their bytes. */
  readonly calls: number;
  readonly bytes: number;
}

/** The usage of one process. */
export interface ProcessUsage extends Counters {
  readonly name: string;
  /** Its highest resident memory since it was started, in MiB. */
  readonly peakMib: number;
}

/** The kernel's unit of CPU time, `getconf CLK_TCK`: 100 a second on every Linux in use. */
const TICK_MICROS = 10_000;

function cpuMicrosOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold spaces: count fields from behind it (proc_pid_stat(5): utime is 14, stime 15).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}

/** Reads a file of /proc with a name and a number in each line. Returns a function that finds a number; NaN for an unknown name. */
function numbersIn(path: string): (name: string) => number {
  const lines = readFileSync(path, 'utf8').matchAll(/^(\w+):\s+(\d+)/gm);
  const numbers = new Map([...lines].map(([, name, value]) => [name, Number(value)]));
  return (name) => numbers.get(name) ?? NaN;
}

function countersOf(pid: number): Counters {
  const io = numbersIn(`/proc/${pid}/io`);
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => numbersIn(`/proc/${pid}/task/${id}/status`));
  return {
    cpuMicros: cpuMicrosOf(pid),
    wakeUps: threads.reduce((sum, status) => sum + status('voluntary_ctxt_switches'), 0),
    calls: io('syscr') + io('syscw'),
    bytes: io('rchar') + io('wchar'),
  };
}

const NONE: Counters = { cpuMicros: 0, wakeUps: 0, calls: 0, bytes: 0 };

const since = (then: Counters, now: Counters): Counters => ({
  cpuMicros: now.cpuMicros - then.cpuMicros,
  wakeUps: now.wakeUps - then.wakeUps,
  calls: now.calls - then.calls,
  bytes: now.bytes - then.bytes,
});

/** Busy and all time of the whole machine (proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal). */
function machineMicros(): { readonly busy: number; readonly all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const fields = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const all = fields.reduce((sum, ticks) => sum + ticks, 0) * TICK_MICROS;
  return { all, busy: all - ((fields[3] ?? 0) + (fields[4] ?? 0)) * TICK_MICROS };
}

/**
 * Begins to measure processes and the machine around them. The returned function ends the measurement. For a process that is only in
 * `endPids`, all its CPU time counts. Reads /proc: Linux only. Throws when a process has ended.
 */
export function beginUsage(pids: Pids) {
  const before = new Map(Object.values(pids).map((pid) => [pid, countersOf(pid)]));
  const machineBefore = machineMicros();
  return (endPids: Pids) => {
    const processes = Object.entries(endPids).map(([name, pid]): ProcessUsage => ({
      name,
      ...since(before.get(pid) ?? NONE, countersOf(pid)),
      peakMib: numbersIn(`/proc/${pid}/status`)('VmHWM') / 1_024,
    }));
    const machine = machineMicros();
    const others = machine.busy - machineBefore.busy - cpuOf(processes);
    const share = (100 * others) / Math.max(1, machine.all - machineBefore.all);
    return {
      processes,
      /** Share of the machine's CPU time that other processes used meanwhile, in percent. */
      othersPercent: Math.max(0, share),
    };
  };
}

/** What the main thread of a process made since the last reading. */
export interface ObjectCounts {
  readonly promises: number;
  /** Bytes in V8's heap: not those of large buffers. */
  readonly heapBytes: number;
}

/** Address of the counter in a process: a socket without a file (unix(7), abstract). Linux only. */
export const counterPath = (pid: number): string => `\0webhooks-object-counter-${pid}`;

/** CPU of some of the processes together, in microseconds. */
export function cpuOf(
  processes: readonly Pick<ProcessUsage, 'name' | 'cpuMicros'>[],
  isWanted: (name: string) => boolean = () => true,
): number {
  return processes.reduce((sum, { name, cpuMicros }) => sum + (isWanted(name) ? cpuMicros : 0), 0);
}

/** A run without figures: its delivery account does not balance, or it could not be finished. The message says why. */
export class VoidRun extends Error {
  override readonly name = 'VoidRun';
}

/** Returns why a run has no figures; undefined when its delivery account balances. `waiting`: number of deliveries that wait in Kafka. */
export function voidReason({ accepted, delivered, strangers }: Totals, waiting = 0): string | undefined {
  if (accepted === 0) return 'nothing was accepted';
  if (strangers > 0) return `${strangers} arrivals belong to no accepted event`;
  const missing = accepted - delivered - waiting;
  if (missing > 0) return `${missing} of ${accepted} deliveries are missing`;
  return missing < 0 ? `${-missing} deliveries are both delivered and waiting` : undefined;
}
