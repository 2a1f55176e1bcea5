import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readAcceptances } from '../load/acceptance-file.js';
import { RunLedger } from '../measure/run-ledger.js';
import { VoidRun, voidReason } from '../measure/void-run.js';
import type { Receiver } from '../receiver/receiver.js';
import { reportOf } from '../world/child-reports.js';
import { entryOf } from '../world/entry.js';
import type { ReferencePlan, ReferenceReport } from './reference-messages.js';

/** The limit as measured once: CPU in microseconds and posts each second. */
export interface Reference {
  readonly cpuMicrosPerPost: number;
  readonly postsPerSecond: number;
  readonly rssBytes: number;
  readonly peakBytes: number;
}

export interface ReferenceOptions {
  readonly receiver: Receiver;
  readonly caFile: string;
  /** A folder for its file. */
  readonly dir: string;
  readonly posts: number;
  readonly concurrency?: number;
  readonly by?: ReferencePlan['by'];
}

/** What the worker reaches at one endpoint (`ENDPOINT_CONCURRENCY`). */
export const REFERENCE_CONCURRENCY = 64;
/** It is compiled long before: what it costs then is the limit. */
const WARM_UP_POSTS = 20_000;
const DEADLINE_MS = 300_000;
const PATH = '/reference';
let turns = 0;

/** Posts straight to the receiver, in a process of its own. Throws `VoidRun` when receipts and posts differ. */
export async function measureReference(options: ReferenceOptions): Promise<Reference> {
  const { receiver, caFile, dir, posts } = options;
  turns += 1;
  const plan: ReferencePlan = {
    url: `${receiver.origins[0] ?? ''}${PATH}`,
    caFile,
    posts,
    warmUp: WARM_UP_POSTS,
    concurrency: options.concurrency ?? REFERENCE_CONCURRENCY,
    seed: 900_000 + turns,
    by: options.by ?? 'dispatch',
    file: join(dir, `reference-${turns}.txt`),
  };
  const receipts = await receiver.mark();
  const child = fork(entryOf('reference/reference-main.js'), [JSON.stringify(plan)], {
    execArgv: [],
  });
  const ended = once(child, 'exit');
  const report = await reportOf<ReferenceReport, 'measured'>(child, 'measured', DEADLINE_MS);
  await ended;
  const ledger = new RunLedger(await readAcceptances(plan.file), [{ path: PATH, tenantId: 'reference' }]);
  for (const receipt of await receipts()) ledger.note(receipt);
  const reason = voidReason(ledger.totals());
  if (reason !== undefined) throw new VoidRun(`reference: ${reason}`);
  return {
    cpuMicrosPerPost: report.cpuMicros / posts,
    postsPerSecond: posts / report.seconds,
    rssBytes: report.rssBytes,
    peakBytes: report.peakBytes,
  };
}

/** The mean of several measurements: a shared machine is not equally fast at all times. */
export function meanReference(all: readonly Reference[]): Reference {
  const mean = (pick: (one: Reference) => number): number =>
    all.reduce((sum, one) => sum + pick(one), 0) / all.length;
  return {
    cpuMicrosPerPost: mean(({ cpuMicrosPerPost }) => cpuMicrosPerPost),
    postsPerSecond: mean(({ postsPerSecond }) => postsPerSecond),
    rssBytes: mean(({ rssBytes }) => rssBytes),
    peakBytes: Math.max(...all.map(({ peakBytes }) => peakBytes)),
  };
}
