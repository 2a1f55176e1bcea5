import { fork } from 'node:child_process';
import { once } from 'node:events';
import { reportOf } from '../world/child-reports.js';
import { entryOf } from '../world/entry.js';
import { readAcceptances } from './acceptance-file.js';
import type { Acceptance } from './acceptance-file.js';
import type { GeneratorReport, LoadPlan, LoadReport } from './generator-messages.js';

/** A generator that has made its events and is connected. */
export interface Generator {
  readonly pid: number;
  /** Starts it. Resolves when the last event was acknowledged; rejects when one was not. */
  go(): Promise<LoadReport>;
  /** What was acknowledged, once `go` has resolved. */
  acceptances(): Promise<readonly Acceptance[]>;
  stop(): Promise<void>;
}

const PREPARE_DEADLINE_MS = 120_000;
const RUN_DEADLINE_MS = 3_600_000;

export async function startGenerator(plan: LoadPlan): Promise<Generator> {
  const child = fork(entryOf('load/generator-main.js'), [JSON.stringify(plan)], {
    execArgv: ['--max-old-space-size=4096', '--no-deprecation', '--disable-warning=TimeoutNegativeWarning'],
  });
  const reported = <K extends GeneratorReport['kind']>(kind: K, deadlineMs: number) =>
    reportOf<GeneratorReport, K>(child, kind, deadlineMs);
  await reported('ready', PREPARE_DEADLINE_MS);
  let written: Promise<unknown> = Promise.resolve();
  return {
    pid: child.pid ?? 0,
    go: async () => {
      written = reported('written', RUN_DEADLINE_MS);
      // Its fault is told by the other wait, which ends first.
      written.catch(() => undefined);
      const sent = reported('sent', RUN_DEADLINE_MS);
      child.send('go');
      return (await sent).report;
    },
    acceptances: async () => {
      await written;
      return readAcceptances(plan.file);
    },
    stop: async () => {
      // It may still be writing its file.
      await written.catch(() => undefined);
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
