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
import type { Journal } from './generator/generator.js';
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

/** What is sent and changed while something else happens. */
export interface Load extends Omit<ChaosOptions, 'steps' | 'durationMs'> {
  readonly world: Pick<World, 'clientOf' | 'receivers' | 'paymentSystem' | 'stack'>;
  /** When the load ends at the latest, milliseconds of `performance.now()`. */
  readonly until: number;
}

/**
 * Sends events and changes configurations while `work` runs, until it aborts `over`. When a part fails, the other parts end in order:
 * `stopping` tells `work` so.
 */
export async function workUnderLoad<T>(
  { world, seed, eventsPerSecond, dataDir, until, print, ...given }: Load,
  work: (stopping: AbortSignal, over: AbortController) => Promise<T>,
): Promise<Pick<Evidence, 'sent' | 'changes'> & { readonly done: T }> {
  const [failing, over] = [new AbortController(), new AbortController()];
  const sent: Journal = new Map();
  const changes: Change[] = [];
  const topic = await openTopicIngress(world.stack.description().kafkaBrokers);
  const parts = [
    work(AbortSignal.any([given.stopping, failing.signal]), over),
    generate({
      random: createRandom(seed),
      eventsPerSecond,
      ingresses: { ingest: createIngestSender(world.paymentSystem), topic: topic.sendEvents },
      journal: sent,
      stopping: over.signal,
    }),
    makeChanges({ world, onChange: (change) => changes.push(change), until, stopping: over.signal }),
  ] as const;
  for (const part of parts) part.catch(() => failing.abort());
  await Promise.allSettled(parts);
  await topic.close();
  const [done] = await Promise.all(parts);
  writeFileSync(join(dataDir, 'journal.json'), JSON.stringify([...sent.values()]));
  print('· load and faults have ended; waiting for the remaining deliveries');
  // Otherwise its breaker would open, because it gets only refused events now, and the last retries would take hours.
  await world.receivers.stubborn.become({ reply: 200 });
  return { sent, changes, done };
}

async function run(world: World, options: ChaosOptions): Promise<ChaosResult> {
  const { durationMs, print, seed } = options;
  print(`· seed ${seed}: ${options.eventsPerSecond} events a second for ${durationMs / 1_000} s`);
  const startedAt = performance.now();
  const until = startedAt + durationMs;
  const load = { ...options, world, until };
  const { done: steps, ...done } = await workUnderLoad(load, async (stopping, over) => {
    const ending = waitOrStop(durationMs, stopping).finally(() => over.abort());
    const steps = await runPlan({ ...options, stopping, faults: FAULTS, world, startedAt, until });
    await ending;
    return steps;
  });
  const evidence = await gatherEvidence(world, { ...done, steps });
  print('· all evidence is read; comparing');
  return { verdict: check(evidence), steps, killed: world.killed, untested: findUntested(evidence) };
}

/** Runs in a world that is stopped in any case. One that does not stop in order does not void the verdict: it is one more finding. */
export async function runIn<W extends Pick<World, 'stop'>, R extends Pick<ChaosResult, 'verdict'>>(
  world: W,
  work: (world: W) => Promise<R>,
): Promise<R> {
  const result = await work(world).catch((error: unknown) =>
    closeAfterFault([() => world.stop()], 'the world', error),
  );
  const findings = [...result.verdict.findings];
  await world.stop().catch((error: unknown) => findings.push({ kind: 'not-stopped', text: String(error) }));
  return { ...result, verdict: { ...result.verdict, findings } };
}

/** One run from an empty world to its verdict. Everything that was started is stopped. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  mkdirSync(options.dataDir, { recursive: true });
  const world = await openWorld(options.dataDir, options.print);
  return runIn(world, () => run(world, options));
}
