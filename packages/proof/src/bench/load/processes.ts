import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import type { Cost, Reply } from '@webhooks/testkit';
import type { Receipt } from '@webhooks/testkit/account';
import type { Load, LoadPlan } from './generator.js';

/** The built programs, whether this file runs as built or from its source, as tests do. */
const PROGRAMS = import.meta.dirname.replace(/(\/dist)?\/src\/bench\/load$/, '/dist/src/bench/load');
/** V8's default would end a generator that has made a million events. */
const HEAP_MIB = 4_096;
/** No load takes as long. */
const DEADLINE_MS = 3_600_000;
/** Receipts are reported together: one message for some hundred arrivals. */
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
  /** How many ports it listens at. */
  readonly ports: number;
  /** Its hosts make whoever connects to them compute; nothing arrives there. */
  readonly cost?: Cost;
}

/** What a path replies from now on. */
export type ReceiverCommand = readonly [path: string, reply: Reply];

/**
 * Starts a program of this folder as a process of its own, with a plan as JSON in its first argument. It ends when its channel
 * closes.
 */
function startChild<Report extends { readonly kind: string }>(program: string, plan: object) {
  const child = fork(join(PROGRAMS, program), [JSON.stringify(plan)], {
    execArgv: [`--max-old-space-size=${HEAP_MIB}`, '--disable-warning=TimeoutNegativeWarning'],
  });
  return {
    child,
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

/** A generator that has made its events and is connected. */
export async function startGenerator(plan: LoadPlan) {
  const { child, reported, stop } = startChild<GeneratorReport>('generator-main.js', plan);
  await reported('ready');
  return {
    pid: child.pid ?? 0,
    stop,
    /** Starts it. Resolves when the last event was acknowledged; rejects when one was not. */
    go: async (): Promise<Load> => {
      const sent = reported('sent');
      child.send('go');
      return (await sent).load;
    },
  };
}
export type Generator = Awaited<ReturnType<typeof startGenerator>>;

/** A receiver that listens at some ports with TLS and takes any path. It replies 200 at once where it got no command. */
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
    /** What arrived since the last call, up to 50 ms ago. */
    take: () => received.splice(0),
  };
}
