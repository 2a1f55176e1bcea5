import { readFileSync } from 'node:fs';

/** What a process has used so far, as Linux tells it in /proc. */
export interface ProcessUsage {
  /** User and system time, in microseconds (the kernel counts in steps of 10 ms). */
  readonly cpuMicros: number;
  /** Resident memory now, in bytes. */
  readonly rssBytes: number;
}

/** The kernel's unit of process times, `getconf CLK_TCK`; 100 on every Linux in use. */
const TICKS_PER_SECOND = 100;

/** Reads /proc; throws when the process is gone, or on another system than Linux. */
export function usageOf(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold spaces: count fields from behind it (proc_pid_stat(5): utime is 14, stime 15).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const rss = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuMicros: (ticks / TICKS_PER_SECOND) * 1_000_000, rssBytes: Number(rss) * 1_024 };
}
