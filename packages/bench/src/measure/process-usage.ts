import { readFileSync, writeFileSync } from 'node:fs';

/** What a process has used so far, as Linux tells it in /proc. */
export interface ProcessUsage {
  /** User and system time, in microseconds (the kernel counts in steps of 10 ms). */
  readonly cpuMicros: number;
  /** Resident memory now, in bytes. */
  readonly rssBytes: number;
  /** The most it ever was, in bytes, since the start or the last `forgetPeak`. */
  readonly peakBytes: number;
}

/** The kernel's unit of process times, `getconf CLK_TCK`; 100 on every Linux in use. */
const TICKS_PER_SECOND = 100;

const kibibytes = (status: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024;

/** Reads /proc; throws when the process is gone, or on another system than Linux. */
export function usageOf(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold spaces: count fields from behind it (proc_pid_stat(5): utime is 14, stime 15).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMicros: (ticks / TICKS_PER_SECOND) * 1_000_000,
    rssBytes: kibibytes(status, 'VmRSS'),
    peakBytes: kibibytes(status, 'VmHWM'),
  };
}

/** Sets the peak back to what is resident now (proc(5), `clear_refs`: 5); where that is not allowed the old peak stays. */
export function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Another user's process: the peak then covers its whole life, which can only be more.
  }
}
