import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { reportOf } from '../world/child-reports.js';
import { entryOf } from '../world/entry.js';
import type { Behaviour } from './behaviour.js';
import { readReceipts } from './read-receipts.js';
import type { Receipt } from './receipt-file.js';
import type { ReceiverCommand, ReceiverPlan, ReceiverReport } from './receiver-messages.js';

/** A receiver in a process of its own: some ports with TLS, any path, behaviour by path. */
export interface Receiver {
  readonly pid: number;
  /** `https://localhost:<port>`, one for each port. */
  readonly origins: readonly string[];
  behave(path: string, behaviour: Behaviour): void;
  /** The endpoint is dead: connections to this port are refused until `reopen`. */
  shut(origin: string): Promise<void>;
  reopen(origin: string): Promise<void>;
  /** Arrivals answered with 2xx so far at these paths, as last told: at most 50 ms ago. */
  countAt(paths: readonly string[]): number;
  /** Everything from here on is in the receipts of the call that comes back; it may be called again. */
  mark(): Promise<() => Promise<readonly Receipt[]>>;
  stop(): Promise<void>;
}

const ANSWER_DEADLINE_MS = 30_000;

export async function startReceiver(plan: ReceiverPlan): Promise<Receiver> {
  writeFileSync(plan.file, '');
  const child = fork(entryOf('receiver/receiver-main.js'), [JSON.stringify(plan)], { execArgv: [] });
  let counts: Readonly<Record<string, number>> = {};
  child.on('message', (report: ReceiverReport) => {
    if (report.kind === 'counts') counts = report.counts;
  });
  const reported = <K extends ReceiverReport['kind']>(kind: K) =>
    reportOf<ReceiverReport, K>(child, kind, ANSWER_DEADLINE_MS);
  const { ports } = await reported('listening');
  const tell = (command: ReceiverCommand): void => void child.send(command);
  const ask = async (command: ReceiverCommand, answer: ReceiverReport['kind']): Promise<void> => {
    const answered = reported(answer);
    tell(command);
    await answered;
  };
  const portOf = (origin: string): number => Number(new URL(origin).port);
  return {
    pid: child.pid ?? 0,
    origins: ports.map((port) => `https://localhost:${port}`),
    behave: (path, behaviour) => tell({ kind: 'behave', path, behaviour }),
    shut: (origin) => ask({ kind: 'shut', port: portOf(origin) }, 'done'),
    reopen: (origin) => ask({ kind: 'reopen', port: portOf(origin) }, 'done'),
    countAt: (paths) => paths.reduce((sum, path) => sum + (counts[path] ?? 0), 0),
    mark: async () => {
      await ask({ kind: 'flush' }, 'flushed');
      const from = statSync(plan.file).size;
      return async () => {
        await ask({ kind: 'flush' }, 'flushed');
        return readReceipts(plan.file, from);
      };
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
