import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PAYMENT_SYSTEM } from '@webhooks/stack';
import { clientFor } from '@webhooks/ledger';
import type { Print } from '@webhooks/ledger';
import { createRandom } from '@webhooks/testkit';
import type { Verdict } from './checker/check.js';
import { judgeRun } from './judge-run.js';
import type { Fault } from './fault.js';
import { makeChanges } from './generator/changer.js';
import type { Change } from './generator/changes.js';
import { giveIngest, openTopicDoor } from './generator/doors.js';
import { generate } from './generator/generator.js';
import { openJournal } from './generator/journal.js';
import type { Step } from './plan/plan.js';
import { registerAll } from './world/register-all.js';
import { runPlan } from './run-plan.js';
import type { DoneStep } from './run-plan.js';
import { untilDrained } from './until-drained.js';
import { planConfigurations } from './world/configurations.js';
import { openWorld } from './world/world.js';
import type { World } from './world/world.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
  /** How long events are made and things are broken, in milliseconds. */
  readonly durationMs: number;
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
  /** From the end of the last fault until everything owed to a healthy endpoint was there, milliseconds. */
  readonly recoveryMs: number;
}

/** What was done to the service, and what it was asked, during the stormy part of a run. */
export interface Storm {
  readonly steps: readonly DoneStep[];
  readonly changes: readonly Change[];
}

/** Ends when the time is over or the run is stopped. */
async function untilOver(durationMs: number, stopping: AbortSignal): Promise<void> {
  await delay(durationMs, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
  });
}

function paymentSystem({ stack }: World) {
  const description = stack.description();
  const credentials = description.clients.find(({ clientId }) => clientId === PAYMENT_SYSTEM);
  if (!credentials) throw new Error('the stack has no client for a payment system');
  return clientFor(credentials, description);
}

/** Makes events, changes configurations and breaks things, all at the same time, until the time is over. */
async function makeStorm(world: World, journalFile: string, options: ChaosOptions): Promise<Storm> {
  const journal = openJournal(journalFile);
  const topic = await openTopicDoor(world.stack.description().kafkaBrokers);
  const ending = new AbortController();
  const changes: Change[] = [];
  const { seed, eventsPerSecond, stopping, print } = options;
  const startedAt = performance.now();
  const [steps] = await Promise.all([
    runPlan({ ...options, world, startedAt, until: startedAt + options.durationMs }),
    generate({
      random: createRandom(seed),
      eventsPerSecond,
      doors: { ingest: giveIngest(paymentSystem(world)), topic: topic.give },
      journal,
      stopping: ending.signal,
    }),
    makeChanges({
      configurations: planConfigurations(),
      clientOf: world.clientOf,
      configApi: world.stack.description().configApi,
      originOf: ({ receiver }) => world.receivers[receiver].origin,
      onChange: (change) => changes.push(change),
      stopping: ending.signal,
    }),
    untilOver(options.durationMs, stopping).finally(() => ending.abort()),
  ]);
  print('· calm: nothing is broken any more, no more events');
  await topic.close();
  journal.close();
  return { steps, changes };
}

async function run(world: World, options: ChaosOptions): Promise<ChaosResult> {
  const { dataDir, print, seed } = options;
  const journalFile = join(dataDir, 'journal.ndjson');
  await registerAll(world, planConfigurations());
  print(`· seed ${seed}: ${options.eventsPerSecond} events a second for ${options.durationMs / 1_000} s`);
  const storm = await makeStorm(world, journalFile, options);
  const lastEndedAt = Math.max(0, ...storm.steps.map(({ takenBackAt }) => takenBackAt));
  const calmAt = await untilDrained(world, { journalFile, changes: storm.changes });
  const recoveryMs = lastEndedAt === 0 ? 0 : Math.max(0, Math.round(calmAt - lastEndedAt));
  print(`· recovered ${(recoveryMs / 1_000).toFixed(1)} s after the last fault; reading the evidence`);
  return { verdict: await judgeRun(world, { journalFile, ...storm }), steps: storm.steps, recoveryMs };
}

/** One run from an empty world to its verdict. Everything that was started is stopped. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const world = await openWorld(options.dataDir, options.print);
  try {
    return await run(world, options);
  } finally {
    await world.stop();
  }
}
