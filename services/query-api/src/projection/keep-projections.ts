import type { Kafka } from '@webhooks/kafka';
import { Gauge, repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { currentGeneration } from './generation.js';
import type { GenerationModel } from './generation.js';
import { openProjection } from './open-projection.js';
import type { RunningProjection } from './open-projection.js';
import type { PositionModel } from './positions.js';
import type { Projection } from './projection.js';

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

function watch(running: () => ReadonlyMap<string, RunningProjection>, { registry }: ServiceScope): void {
  const gauge = (name: string, help: string, value: (projection: RunningProjection) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['projection'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [projection, one] of running()) this.set({ projection }, value(one));
      },
    });
  };
  gauge('query_projection_lag_records', 'Records that are not projected yet', (one) => one.health().lag);
  gauge(
    'query_projection_lag_seconds',
    'Age of the oldest record that was read and is not projected',
    (one) => one.health().oldestAgeMs / 1_000,
  );
}

/**
 * Keeps the projections of the current generation running. When a new generation was begun (the reset command) the old
 * ones are stopped and everything is read again; documents stay meanwhile, and what is not there is not known to be absent.
 */
export function keepProjections(options: KeepOptions, scope: ServiceScope): KeptProjections {
  let generation: string | undefined;
  let running = new Map<string, RunningProjection>();

  const stopAll = async (): Promise<void> => {
    const stopping = [...running.values()];
    running = new Map();
    generation = undefined;
    await Promise.all(stopping.map((one) => one.stop(DRAIN_MS)));
  };
  const openAll = async (current: string, positionModel: PositionModel): Promise<void> => {
    const { kafka, groupPrefix, projections } = options;
    const parts = { kafka, groupPrefix, generation: current, positionModel };
    for (const projection of projections) {
      if (!running.has(projection.name))
        running.set(projection.name, await openProjection(projection, parts, scope));
    }
    generation = current;
    scope.log.info('the projections run', { generation: current });
  };
  const look = async (signal: AbortSignal): Promise<void> => {
    const models = options.models();
    if (!models) return;
    const current = await currentGeneration(models.generations);
    if (current === generation || signal.aborted) return;
    await stopAll();
    await openAll(current, models.positions);
  };
  const keeping = repeat({ name: 'keeping the projections', everyMs: LOOK_MS, work: look, log: scope.log });
  scope.onClose('projections', async () => {
    await keeping.stop();
    await stopAll();
  });
  scope.health.readiness('projections', () =>
    generation === undefined ? 'the projections do not run yet' : undefined,
  );
  watch(() => running, scope);
  return { running: (name) => running.get(name) };
}
