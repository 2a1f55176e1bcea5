import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';

interface Message {
  readonly kind: string;
}

/** The built programs, whether this file runs as built or from its source, as tests do. */
const PROGRAMS = import.meta.dirname.replace(/(\/dist)?\/src\/bench\/load$/, '/dist/src/bench/load');
/** V8's default would end a generator that has made a million events. */
const HEAP_MIB = 4_096;
/** No load takes as long. */
const DEADLINE_MS = 3_600_000;

/**
 * Starts a program of this folder with a plan as JSON in its first argument, as a process of its own: its time is nobody else's. It
 * ends when its channel closes.
 */
export function startChild<Report extends Message>(program: string, plan: object) {
  const child = fork(join(PROGRAMS, program), [JSON.stringify(plan)], {
    execArgv: [`--max-old-space-size=${HEAP_MIB}`, '--disable-warning=TimeoutNegativeWarning'],
  });
  return {
    pid: child.pid ?? 0,
    send: (message: object) => void child.send(message),
    onReport: (listener: (report: Report) => void) => void child.on('message', listener),
    /** The next report of one kind. Rejects with the words of a `failed` one, when the process ends, and after an hour. */
    reported: async <K extends Report['kind']>(kind: K) => {
      const signal = AbortSignal.timeout(DEADLINE_MS);
      const reports = on(child, 'message', { signal, close: ['exit'] });
      for await (const [report] of reports as AsyncIterable<[Report & { readonly why?: string }]>) {
        if (report.kind === kind) return report as Extract<Report, { kind: K }>;
        if (report.kind === 'failed') throw new Error(`a process of the bench failed: ${report.why ?? ''}`);
      }
      throw new Error(`a process of the bench ended before it reported ${kind}`);
    },
    stop: async () => {
      if (!child.connected) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
