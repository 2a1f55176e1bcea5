import { fetchEndOffsets, watchRetention } from '@webhooks/kafka';
import type { Kafka, SourceHealth } from '@webhooks/kafka';
import { addSourceGauge, createLogThrottle, errorFields, repeat } from '@webhooks/runtime';
import type { Logger, ServiceScope } from '@webhooks/runtime';
import { CatchUp, POLL_MS } from './catch-up.js';
import { Positions } from './positions.js';
import type { RunPositionQuery } from './positions.js';
import { openProjection } from './projection.js';
import type { Projection, RunningProjection } from './projection.js';
import { forgetGeneration, generationOf } from './generation.js';

interface KeepOptions {
  readonly kafka: Kafka;
  readonly groupPrefix: string;
  readonly projections: readonly Projection[];
  readonly runQuery: RunPositionQuery;
}

const KEEP_MS = 1_000;
const STOP_MS = 10_000;

type Running = Map<string, RunningProjection>;

/** Opens the projections that do not run. Rejects when one cannot be opened, after all others are. */
async function openMissing(
  { kafka, groupPrefix, projections }: KeepOptions,
  { generation, running }: { readonly generation: string; readonly running: Running },
  scope: ServiceScope,
  signal: AbortSignal,
): Promise<void> {
  const missing = projections.filter(({ name }) => !running.has(name));
  const opening = missing.map(async (projection) => {
    const groupId = `${groupPrefix}.${projection.name}.${generation}`;
    const opened = await openProjection(projection, { kafka, groupId }, scope);
    if (signal.aborted) await opened.stop({ deadlineMs: 0 });
    else running.set(projection.name, opened);
  });
  await Promise.allSettled(opening);
  await Promise.all(opening);
}

function addGauges(running: Running, scope: ServiceScope): void {
  const gauge = (name: string, help: string, read: (health: SourceHealth) => number): void =>
    addSourceGauge(scope, { name, help, label: 'projection' }, running, read);
  gauge('query_projection_lag_records', 'Records that are not projected yet', ({ lag }) => lag);
  const age = 'Age of the oldest record that is not projected';
  gauge('query_projection_lag_seconds', age, ({ oldestAgeMs }) => oldestAgeMs / 1_000);
  const joined = 'Whether the projection is a member of its group';
  gauge('query_projection_joined', joined, (health) => Number(health.joined));
}

function createCatchUps(positions: readonly Positions[], kafka: Kafka, log: Logger) {
  // One line for all faults of a while, with the latest one: a thousand queries may wait at once.
  const throttle = createLogThrottle();
  const onFault = (error: unknown): void => {
    throttle((queries) => log.warn('queries were not caught up in time', { queries, ...errorFields(error) }));
  };
  return new Map(
    positions.map((one) => {
      const fetchEnds = (deadlineMs: number) => fetchEndOffsets(kafka, one.topic, { deadlineMs });
      return [one.topic, new CatchUp({ positions: one, fetchEnds, onFault })];
    }),
  );
}

/**
 * Runs the projections of the current rebuild generation, once database and Kafka are there. The process ends when
 * the database holds another generation: it was emptied or reset, or a topic was made anew. Started again, it reads
 * everything. Returns how each topic is waited for.
 */
export function keepProjections(options: KeepOptions, scope: ServiceScope): ReadonlyMap<string, CatchUp> {
  const { kafka, projections, runQuery } = options;
  let generation: string | undefined;
  const running: Running = new Map();

  const keep = async (signal: AbortSignal): Promise<void> => {
    const current = await generationOf(runQuery);
    generation ??= current;
    if (current === generation) {
      await openMissing(options, { generation, running }, scope, signal);
      // The topic lost its end, or was made anew: records below the position were not read.
      for (const [topic, catchUp] of catchUps) {
        if (await catchUp.reaches(await catchUp.positions.offsets())) continue;
        await runQuery((models) => forgetGeneration(models.positions, { generation: current }));
        scope.fail(new Error(`${topic} ends before what was read of it: everything is to be read anew`));
      }
    } else scope.fail(new Error('a new rebuild generation began: everything is to be read anew'));
  };
  const positions = projections
    .filter(({ publishesPositions }) => publishesPositions)
    .flatMap(({ name, topics }) => {
      const own = () => running.get(name)?.positions() ?? [];
      return topics.map((topic) => new Positions({ topic, generation: () => generation, runQuery, own }));
    });
  const catchUps = createCatchUps(positions, kafka, scope.log);
  const write = async (): Promise<void> => {
    for (const one of positions) await one.write();
  };
  const writing = repeat({ name: 'writing the positions', everyMs: POLL_MS, log: scope.log, work: write });
  const keeping = repeat({ name: 'keeping the projections', everyMs: KEEP_MS, log: scope.log, work: keep });
  scope.onClose('projections', async () => {
    // Not awaited: a projection that is being opened while Kafka is away ends when the cluster is closed.
    keeping.stop().catch(scope.fail);
    await Promise.all([...running.values()].map((one) => one.stop({ deadlineMs: STOP_MS })));
    await writing.stop();
  });
  scope.health.readiness('projections', () =>
    running.size === projections.length ? undefined : 'the projections do not run yet',
  );
  addGauges(running, scope);
  const read = [...new Set(projections.flatMap(({ topics }) => topics))];
  watchRetention({ kafka, topics: read, sources: running }, scope);
  return catchUps;
}
