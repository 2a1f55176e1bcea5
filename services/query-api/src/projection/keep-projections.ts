import { setTimeout as wait } from 'node:timers/promises';
import { watchRetention } from '@webhooks/kafka';
import type { Kafka } from '@webhooks/kafka';
import { repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { currentGeneration } from './generation.js';
import type { GenerationModel } from './generation.js';
import { openProjection } from './open-projection.js';
import type { ProjectionParts, RunningProjection } from './open-projection.js';
import type { PositionModel } from './positions.js';
import type { Projection } from './projection.js';
import { watchLag } from './watch-lag.js';
import { watchMembership } from './watch-membership.js';

export interface KeepOptions {
  readonly kafka: Kafka;
  readonly groupPrefix: string;
  readonly projections: readonly Projection[];
  /** Undefined until the database has been there once. */
  readonly models: () =>
    { readonly generations: GenerationModel; readonly positions: PositionModel } | undefined;
}

export interface KeptProjections {
  /** Undefined before the first start and while a new generation begins. */
  running(name: string): RunningProjection | undefined;
}

const LOOK_MS = 1_000;
const DRAIN_MS = 10_000;
const STOP_MS = 2_000;

/**
 * Keeps the projections of the current generation running. When a new generation was begun (the reset command) the old
 * ones are stopped and everything is read again; documents stay meanwhile, and what is not there is not known to be absent.
 */
export function keepProjections(options: KeepOptions, scope: ServiceScope): KeptProjections {
  let generation: string | undefined;
  /** The generation of what is in `running`, be it all or some of it. */
  let target: string | undefined;
  let begun = false;
  let running = new Map<string, RunningProjection>();

  const stopAll = async (): Promise<void> => {
    const stopping = [...running.values()];
    running = new Map();
    generation = undefined;
    await Promise.all(stopping.map((one) => one.stop(DRAIN_MS)));
  };
  const open = async (projection: Projection, parts: ProjectionParts, signal: AbortSignal): Promise<void> => {
    const opened = await openProjection(projection, parts, scope);
    if (signal.aborted) await opened.stop(0);
    else running.set(projection.name, opened);
  };
  const openAll = async (current: string, parts: ProjectionParts, signal: AbortSignal): Promise<void> => {
    const missing = options.projections.filter(({ name }) => !running.has(name));
    const opening = missing.map((projection) => open(projection, parts, signal));
    await Promise.allSettled(opening);
    await Promise.all(opening);
    generation = current;
    begun = true;
    scope.log.info('the projections run', { generation: current });
  };
  const look = async (signal: AbortSignal): Promise<void> => {
    const models = options.models();
    if (!models) return;
    const current = await currentGeneration(models.generations);
    if (current === generation || signal.aborted) return;
    if (target !== current) await stopAll();
    target = current;
    const { kafka, groupPrefix } = options;
    const parts = { kafka, groupPrefix, generation: current, positionModel: models.positions };
    await openAll(current, parts, signal);
  };
  const keeping = repeat({ name: 'keeping the projections', everyMs: LOOK_MS, work: look, log: scope.log });
  scope.onClose('projections', async () => {
    // One that is being opened while Kafka is away ends by itself when the cluster is closed.
    await Promise.race([keeping.stop(), wait(STOP_MS, undefined, { ref: false })]);
    await stopAll();
  });
  scope.health.readiness('projections', () => (begun ? undefined : 'the projections do not run yet'));
  watchLag(() => running, scope);
  watchMembership(() => running, scope);
  const topics = [...new Set(options.projections.flatMap((projection) => projection.topics))];
  watchRetention({ kafka: options.kafka, topics, sources: () => running }, scope);
  return { running: (name) => running.get(name) };
}
