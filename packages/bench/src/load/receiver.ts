import type { Answer } from '@webhooks/testkit';
import type { Receipt } from '../measure/run-ledger.js';
import { startChild } from './child.js';
import type { Child } from './child.js';

/** Receipts are reported together: one message for some hundred arrivals. */
export const REPORT_EVERY_MS = 50;

/** What a receiver process is started with. */
export interface ReceiverPlan {
  readonly certFile: string;
  readonly keyFile: string;
  /** How many ports it listens at. */
  readonly ports: number;
}

export type ReceiverCommand =
  | { readonly kind: 'answer'; readonly path: string; readonly answer: Answer }
  | { readonly kind: 'shut' | 'reopen'; readonly origin: string };

export type ReceiverReport =
  | { readonly kind: 'listening'; readonly origins: readonly string[] }
  /** What arrived since the last report. */
  | { readonly kind: 'received'; readonly receipts: readonly Receipt[] };

/** A receiver in a process of its own: some ports with TLS, any path. It answers 200 at once where nothing else is said. */
export interface Receiver extends Pick<Child, 'pid' | 'stop'> {
  /** `https://localhost:<port>`, one for each port. */
  readonly origins: readonly string[];
  answerAt(path: string, answer: Answer): void;
  /** The endpoint is dead: its connections are broken, and new ones are refused until `reopen`. */
  shut(origin: string): void;
  reopen(origin: string): void;
  /** What arrived since the last call, up to 50 ms ago. */
  take(): readonly Receipt[];
}

export async function startReceiver(plan: ReceiverPlan): Promise<Receiver> {
  const child = startChild<ReceiverReport>('receiver-main.js', plan);
  const { origins } = await child.reported('listening');
  let received: Receipt[] = [];
  child.onReport((report) => {
    if (report.kind === 'received') received.push(...report.receipts);
  });
  const send = (command: ReceiverCommand): void => child.send(command);
  return {
    pid: child.pid,
    stop: child.stop,
    origins,
    answerAt: (path, answer) => send({ kind: 'answer', path, answer }),
    shut: (origin) => send({ kind: 'shut', origin }),
    reopen: (origin) => send({ kind: 'reopen', origin }),
    take: () => {
      const taken = received;
      received = [];
      return taken;
    },
  };
}
