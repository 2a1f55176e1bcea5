import type { Receipt } from '@webhooks/testkit/account';
import type { Reply, Cost } from '@webhooks/testkit';
import { startChild } from './child.js';

/** Receipts are reported together: one message for some hundred arrivals. */
export const REPORT_EVERY_MS = 50;

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
export interface ReceiverCommand {
  readonly path: string;
  readonly reply: Reply;
}

export type ReceiverReport =
  | { readonly kind: 'listening'; readonly origins: readonly string[] }
  /** What arrived since the last report. */
  | { readonly kind: 'received'; readonly receipts: readonly Receipt[] };

/** A receiver in a process of its own: some ports with TLS, any path. Default reply: 200 at once. */
export async function startReceiver(plan: ReceiverPlan) {
  const child = startChild<ReceiverReport>('receiver-main.js', plan);
  const { origins } = await child.reported('listening');
  const received: Receipt[] = [];
  child.onReport((report) => {
    if (report.kind === 'received') received.push(...report.receipts);
  });
  return {
    pid: child.pid,
    stop: child.stop,
    /** `https://localhost:<port>`, one for each port. */
    origins,
    replyAt: (path: string, reply: Reply) => child.send({ path, reply } satisfies ReceiverCommand),
    /** What arrived since the last call, up to 50 ms ago. */
    take: () => received.splice(0),
  };
}
