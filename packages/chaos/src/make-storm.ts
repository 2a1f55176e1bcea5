import { setTimeout as delay } from 'node:timers/promises';
import { clientFor } from '@webhooks/ledger';
import { PAYMENT_SYSTEM } from '@webhooks/stack';
import { createRandom } from '@webhooks/testkit';
import { makeChanges } from './generator/changer.js';
import type { Change } from './generator/changes.js';
import { giveIngest, openTopicDoor } from './generator/doors.js';
import type { Give } from './generator/doors.js';
import { generate } from './generator/generator.js';
import { openJournal } from './generator/journal.js';
import type { Journal } from './generator/journal.js';
import type { ChaosOptions } from './run-chaos.js';
import { runPlan } from './run-plan.js';
import type { DoneStep } from './run-plan.js';
import { planConfigurations } from './world/configurations.js';
import { isAwayOrOfWrongTime } from './world/unavailable.js';
import type { World } from './world/world.js';

/** What was done to the service, and what was asked of it, during the stormy part of a run. */
export interface Storm {
  readonly steps: readonly DoneStep[];
  readonly changes: readonly Change[];
}

/** Ends when the time is over or the storm is stopped. */
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

interface Parts {
  readonly world: World;
  readonly journal: Journal;
  readonly topic: Give;
  readonly options: ChaosOptions;
}

/** All that goes on at the same time. When the time is over, or a part fails, the others end in order. */
async function storm({ world, journal, topic, options }: Parts): Promise<Storm> {
  const { seed, eventsPerSecond, durationMs } = options;
  const ending = new AbortController();
  const failing = new AbortController();
  const stopping = AbortSignal.any([options.stopping, failing.signal]);
  const changes: Change[] = [];
  const isAway = isAwayOrOfWrongTime(world.clocksDir);
  const startedAt = performance.now();
  const until = startedAt + durationMs;
  const countAccepted = (): number => journal.countAccepted();
  const orStop = <T>(part: Promise<T>): Promise<T> =>
    part.catch((error: unknown) => {
      failing.abort();
      throw error;
    });
  const parts = [
    orStop(runPlan({ ...options, ...{ stopping, world, startedAt, countAccepted, until } })).finally(() => {
      if (options.endsWithPlan) ending.abort();
    }),
    orStop(
      generate({
        random: createRandom(seed),
        eventsPerSecond,
        doors: { ingest: giveIngest(paymentSystem(world), isAway), topic },
        journal,
        stopping: ending.signal,
      }),
    ),
    orStop(
      makeChanges({
        configurations: planConfigurations(),
        clientOf: world.clientOf,
        originOf: ({ receiver }) => world.receivers[receiver].origin,
        isAway,
        onChange: (change) => changes.push(change),
        until,
        stopping: ending.signal,
      }),
    ),
    untilOver(durationMs, AbortSignal.any([stopping, ending.signal])).finally(() => ending.abort()),
  ] as const;
  await Promise.allSettled(parts);
  const [steps] = await Promise.all(parts);
  return { steps, changes };
}

/** Makes events, changes configurations and breaks things, until the time is over and what was broken is mended. */
export async function makeStorm(world: World, journalFile: string, options: ChaosOptions): Promise<Storm> {
  const journal = openJournal(journalFile);
  try {
    const topic = await openTopicDoor(world.stack.description().kafkaBrokers);
    try {
      return await storm({ world, journal, topic: topic.give, options });
    } finally {
      await topic.close();
    }
  } finally {
    journal.close();
  }
}
