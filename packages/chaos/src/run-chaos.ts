import { join } from 'node:path';
import type { Print } from '@webhooks/ledger';
import { closeAfterFault } from '@webhooks/stack';
import type { Verdict } from './checker/check.js';
import type { Finding } from './checker/finding.js';
import { findLeftOut, findUntested } from './checker/untested.js';
import type { Fault } from './fault.js';
import { readJournal } from './generator/journal.js';
import { judgeRun } from './judge-run.js';
import { makeStorm } from './make-storm.js';
import type { Step } from './plan/plan.js';
import type { DoneStep } from './run-plan.js';
import { untilDrained } from './until-drained.js';
import { planConfigurations } from './world/configurations.js';
import { registerAll } from './world/register-all.js';
import { openWorld } from './world/world.js';
import type { World } from './world/world.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
  /** How long events are made and things are broken, in milliseconds. */
  readonly durationMs: number;
  /** Ends as soon as all steps are done and what they hit is up again; `durationMs` is the deadline then. */
  readonly endsWithPlan?: true;
  readonly eventsPerSecond: number;
  /** Everything of the run; it is left there. */
  readonly dataDir: string;
  /** Ends the run early, in order. */
  readonly stopping: AbortSignal;
  readonly print: Print;
}

export interface ChaosResult {
  readonly verdict: Verdict;
  readonly steps: readonly DoneStep[];
  /** Every SIGKILL, by the name of the process. */
  readonly killed: readonly string[];
  /** From the end of the last fault until everything owed to a healthy endpoint was there, milliseconds. */
  readonly recoveryMs: number;
  /** What was tried, and never came about. */
  readonly untested: readonly string[];
  /** Kinds of fault that were never done, and checks that had nothing to look at. */
  readonly leftOut: readonly string[];
}

async function run(world: World, options: ChaosOptions): Promise<ChaosResult> {
  const { dataDir, print, seed } = options;
  const journalFile = join(dataDir, 'journal.ndjson');
  await registerAll(world, planConfigurations());
  print(`· seed ${seed}: ${options.eventsPerSecond} events a second for ${options.durationMs / 1_000} s`);
  const storm = await makeStorm(world, journalFile, options);
  print('· calm: nothing is broken any more, and no more events');
  const lastEndedAt = Math.max(0, ...storm.steps.map(({ takenBackAt }) => takenBackAt));
  const calmAt = await untilDrained(world, { journalFile, changes: storm.changes });
  const recoveryMs = lastEndedAt === 0 ? 0 : Math.max(0, Math.round(calmAt - lastEndedAt));
  print(`· recovered ${(recoveryMs / 1_000).toFixed(1)} s after the last fault; reading the evidence`);
  const tried = {
    planned: options.steps,
    configurations: planConfigurations(),
    sent: readJournal(journalFile),
    redeliveries: world.redeliveries,
    ...storm,
  };
  return {
    verdict: await judgeRun(world, { journalFile, ...storm }, print),
    steps: storm.steps,
    killed: world.killed,
    recoveryMs,
    untested: findUntested(tried),
    leftOut: findLeftOut(tried),
  };
}

/** A world that does not stop in order takes no verdict away: it is one more finding. */
async function stopAfter(world: World, { verdict, ...result }: ChaosResult): Promise<ChaosResult> {
  const findings = await world.stop().then(
    (): readonly Finding[] => [],
    (error: unknown): readonly Finding[] => [{ kind: 'not-stopped', text: String(error) }],
  );
  return { ...result, verdict: { ...verdict, findings: [...verdict.findings, ...findings] } };
}

/** One run from an empty world to its verdict. Everything that was started is stopped. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const world = await openWorld({
    ...options,
    withDisks: options.steps.some(({ fault }) => fault.startsWith('disk-')),
  });
  let result: ChaosResult;
  try {
    result = await run(world, options);
  } catch (error) {
    return closeAfterFault([() => world.stop()], 'the world', error);
  }
  return stopAfter(world, result);
}
