import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import type { Cost, Reply } from '@webhooks/testkit';
import type { Receipt } from '@webhooks/testkit/account';
import type { Load, LoadPlan } from './generator.js';

/** Folder of the built programs. Tests run this file from its source instead. */
export const PROGRAMS = import.meta.dirname.replace(/(\/dist)?\/src\/bench\/load$/, '/dist/src/bench/load');
/** With V8's default, a generator that holds a million events runs out of memory. */
const HEAP_MIB = 4_096;
/** Longest wait for a report. Every load takes less. */
const DEADLINE_MS = 3_600_000;
/** Interval at which a receiver reports its receipts: one message for about a hundred arrivals. */
export const REPORT_EVERY_MS = 50;

export type GeneratorReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'sent'; readonly load: Load }
  | { readonly kind: 'failed'; readonly why: string };

export type ReceiverReport =
  | { readonly kind: 'listening'; readonly origins: readonly string[] }
  /** What arrived since the last report. */
  | { readonly kind: 'received'; readonly receipts: readonly Receipt[] };

/** What a receiver process is started with. */
export interface ReceiverPlan {
  readonly certFile: string;
  readonly keyFile: string;
  /** Number of ports at which it listens. */
  readonly ports: number;
  /** Its hosts cost each connecting client CPU time (see `Cost`), and receive no events. */
  readonly cost?: Cost;
}

/** Sets the reply at a path. */
export type ReceiverCommand = readonly [path: string, reply: Reply];

/**
 * Starts a program of this folder as a child process, with `plan` as JSON in its first argument. The process ends when its channel closes.
 */
function startChild<Report extends { readonly kind: string }>(program: string, plan: object) {
  const child = fork(join(PROGRAMS, program), [JSON.stringify(plan)], {
    execArgv: [`--max-old-space-size=${HEAP_MIB}`, '--disable-warning=TimeoutNegativeWarning'],
  });
  return {
    child,
    /**
     * Resolves with the next report of this kind. Rejects with the reason of a `failed` report, when the process ends, or after an hour.
     */
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

/** Starts a generator; resolves when its events are built and its target is open. */
export async function startGenerator(plan: LoadPlan) {
  const { child, reported, stop } = startChild<GeneratorReport>('generator-main.js', plan);
  await reported('ready');
  return {
    pid: child.pid ?? 0,
    stop,
    /** Starts sending. Resolves when the last event was acknowledged; rejects when one was not. */
    go: async (): Promise<Load> => {
      const sent = reported('sent');
      child.send('go');
      return (await sent).load;
    },
  };
}
export type Generator = Awaited<ReturnType<typeof startGenerator>>;

/** Starts a TLS receiver that accepts any path. It replies 200 at once, unless `replyAt` set another reply for the path. */
export async function startReceiver(plan: ReceiverPlan) {
  const { child, reported, stop } = startChild<ReceiverReport>('receiver-main.js', plan);
  const { origins } = await reported('listening');
  const received: Receipt[] = [];
  child.on('message', (report: ReceiverReport) => {
    if (report.kind === 'received') received.push(...report.receipts);
  });
  return {
    pid: child.pid ?? 0,
    stop,
    /** `https://localhost:<port>`, one for each port. */
    origins,
    replyAt: (...command: ReceiverCommand) => void child.send(command),
    /** Returns the arrivals since the last call. An arrival is reported up to 50 ms late. */
    take: () => received.splice(0),
  };
}
