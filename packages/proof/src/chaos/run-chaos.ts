import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeAfterFault } from '@webhooks/local';
import { createRandom } from '@webhooks/testkit';
import type { Print } from '@webhooks/testkit/account';
import { check } from './checker/check.js';
import type { Verdict } from './checker/check.js';
import type { Evidence } from './evidence/evidence.js';
import { gatherEvidence } from './evidence/gather-evidence.js';
import { FAULTS } from './faults.js';
import { makeChanges, isMade } from './generator/changes.js';
import type { Change } from './generator/changes.js';
import { INGRESSES, createIngestSender, openTopicIngress, generate } from './generator/generator.js';
import type { SendEvents, Journal } from './generator/generator.js';
import { runPlan, waitOrStop } from './plan.js';
import type { Step, DoneStep } from './plan.js';
import { openWorld } from './world/world.js';
import type { World } from './world/world.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly steps: readonly Step[];
  /** How long events are sent and faults happen, in milliseconds. */
  readonly durationMs: number;
  readonly eventsPerSecond: number;
  /** Folder for all data of the run; it is not removed. */
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
  /** What the run never did; a balanced delivery account proves nothing about it. */
  readonly untested: readonly string[];
}

/** Returns the faults, ingresses and changes of which none succeeded. */
export function findUntested({
  steps,
  sent,
  changes,
}: Pick<Evidence, 'steps' | 'sent' | 'changes'>): readonly string[] {
  const accepted = [...sent.values()].filter(({ acceptedAt }) => acceptedAt !== undefined);
  const ingresses = new Set(accepted.map(({ ingress }) => ingress));
  const made = new Set(changes.filter(isMade).map(({ requested }) => requested.what));
  return [
    ...(steps.some(({ outcome }) => outcome === 'done') ? [] : ['any fault']),
    ...INGRESSES.filter((ingress) => !ingresses.has(ingress)).map(
      (ingress) => `the ingress ${ingress}: it accepted nothing`,
    ),
    ...(['disable', 'enable', 'move', 'rotate'] as const)
      .filter((what) => !made.has(what))
      .map((what) => `a change of a configuration: ${what}`),
  ];
}

/**
 * Runs the faults, sends events and changes configurations at the same time. When the time is over, or a part fails, the other parts end in
 * order.
 */
async function breakUnderLoad(
  world: World,
  journal: Journal,
  topic: SendEvents,
  options: ChaosOptions,
): Promise<Pick<Evidence, 'steps' | 'changes'>> {
  const { seed, eventsPerSecond, durationMs } = options;
  const failing = new AbortController();
  const over = new AbortController();
  const stopping = AbortSignal.any([options.stopping, failing.signal]);
  const changes: Change[] = [];
  const startedAt = performance.now();
  const until = startedAt + durationMs;
  const parts = [
    runPlan({ ...options, stopping, faults: FAULTS, world, startedAt, until }),
    generate({
      random: createRandom(seed),
      eventsPerSecond,
      ingresses: { ingest: createIngestSender(world.paymentSystem), topic },
      journal,
      stopping: over.signal,
    }),
    makeChanges({ world, onChange: (change) => changes.push(change), until, stopping: over.signal }),
    waitOrStop(durationMs, stopping).finally(() => over.abort()),
  ] as const;
  for (const part of parts) part.catch(() => failing.abort());
  await Promise.allSettled(parts);
  const [steps] = await Promise.all(parts);
  return { steps, changes };
}

async function run(world: World, options: ChaosOptions): Promise<ChaosResult> {
  const { dataDir, print, seed } = options;
  print(`· seed ${seed}: ${options.eventsPerSecond} events a second for ${options.durationMs / 1_000} s`);
  const journal: Journal = new Map();
  const topic = await openTopicIngress(world.stack.description().kafkaBrokers);
  const done = await breakUnderLoad(world, journal, topic.sendEvents, options).finally(topic.close);
  writeFileSync(join(dataDir, 'journal.json'), JSON.stringify([...journal.values()]));
  print('· all faults have ended, and no more events are sent; waiting for the remaining deliveries');
  // Otherwise its breaker would open, because it gets only refused events now, and the last retries would take hours.
  await world.receivers.stubborn.become({ reply: 200 });
  const evidence = await gatherEvidence(world, { ...done, sent: journal });
  print('· all evidence is read; comparing');
  return {
    verdict: check(evidence),
    steps: done.steps,
    killed: world.killed,
    untested: findUntested(evidence),
  };
}

/** One run from an empty world to its verdict. Everything that was started is stopped. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  mkdirSync(options.dataDir, { recursive: true });
  const world = await openWorld(options.dataDir, options.print);
  const { verdict, ...result } = await run(world, options).catch((error: unknown) =>
    closeAfterFault([() => world.stop()], 'the world', error),
  );
  const findings = [...verdict.findings];
  // A world that does not stop in order does not void the verdict. It is one more finding.
  await world.stop().catch((error: unknown) => findings.push({ kind: 'not-stopped', text: String(error) }));
  return { ...result, verdict: { ...verdict, findings } };
}
