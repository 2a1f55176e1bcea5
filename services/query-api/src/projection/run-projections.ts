import { setTimeout as sleep } from 'node:timers/promises';
import { fetchEndOffsets, watchRetention } from '@webhooks/kafka';
import type { Kafka, SourceHealth } from '@webhooks/kafka';
import { addSourceGauge, createLogThrottle, errorFields, repeat, settleAll } from '@webhooks/runtime';
import type { Logger, ServiceScope } from '@webhooks/runtime';
import { CatchUp, isWithin, POLL_MS } from './catch-up.js';
import { Positions, readRows } from './positions.js';
import type { RunPositionQuery } from './positions.js';
import { openProjection } from './projection.js';
import type { Projection, RunningProjection } from './projection.js';
import { forgetGeneration, GENERATION_ID, generationOf } from './generation.js';

interface ProjectionsOptions {
  readonly kafka: Kafka;
  readonly groupPrefix: string;
  readonly projections: readonly Projection[];
  readonly runQuery: RunPositionQuery;
}

const CHECK_EVERY_MS = 1_000;
/** Time to write what was read, milliseconds. The next owner of the partitions waits for it, and may write the rest again. */
const STOP_MS = 2_000;
const LATE = 'the projection did not catch up in time for queries';

type Running = Map<string, RunningProjection>;
type CatchUps = ReadonlyMap<string, CatchUp>;

interface OpenOptions {
  readonly generation: string;
  readonly running: Running;
  readonly onProgress: () => void;
}

/** Opens the projections that are not running. Tries all of them, then rejects when one could not be opened. */
async function openMissing(
  { kafka, groupPrefix, projections }: ProjectionsOptions,
  { generation, running, onProgress }: OpenOptions,
  scope: ServiceScope,
  signal: AbortSignal,
): Promise<void> {
  const missing = projections.filter(({ name }) => !running.has(name));
  const opening = missing.map(async (projection) => {
    const groupId = `${groupPrefix}.${projection.name}.${generation}`;
    const opened = await openProjection(projection, { kafka, groupId, onProgress }, scope);
    if (signal.aborted) await opened.stop({ deadlineMs: 0 });
    else running.set(projection.name, opened);
  });
  await settleAll(opening);
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
  // At most one line in 10 s, with a count and the latest fault: a thousand queries may wait at once.
  const throttle = createLogThrottle();
  const onFault = (error: unknown): void => {
    throttle((queries) => log.warn(LATE, { queries, ...errorFields(error) }));
  };
  return new Map(
    positions.map((one) => {
      const fetchEnds = (deadlineMs: number) => fetchEndOffsets(kafka, one.topic, { deadlineMs });
      return [one.name, new CatchUp({ positions: one, fetchEnds, onFault })];
    }),
  );
}

/** Writes positions that have moved, `POLL_MS` after a call of `onProgress`. A failed write is tried again after as long. */
function startWriting(positions: readonly Positions[], log: Logger) {
  let progress = Promise.withResolvers<undefined>();
  const onProgress = (): void => progress.resolve(undefined);
  const write = async (): Promise<void> => {
    await progress.promise;
    await sleep(POLL_MS);
    progress = Promise.withResolvers();
    try {
      for (const one of positions) await one.write();
    } catch (error) {
      onProgress();
      throw error;
    }
  };
  const { stop } = repeat({ name: 'writing the positions', everyMs: 0, log, work: write });
  return {
    onProgress,
    /** Writes what has moved, unless a write is under way, and resolves when it has ended. Of what moves meanwhile the next owner tells. */
    stop: (): Promise<void> => {
      onProgress();
      return stop();
    },
  };
}

/**
 * Runs the projections of the current rebuild generation, once database and Kafka are reachable. The process exits when
 * the database holds another generation: it was emptied or reset, or a topic was recreated. After the restart it reads
 * every topic from the start. Returns the `CatchUp` of each topic, by the name of its positions.
 */
export function runProjections(options: ProjectionsOptions, scope: ServiceScope): CatchUps {
  const { kafka, projections, runQuery } = options;
  let generation: string | undefined;
  const running: Running = new Map();

  const restart = (why: string): void => scope.fail(new Error(`${why}: restarting to read everything again`));
  const check = async (signal: AbortSignal): Promise<void> => {
    const own = (generation ??= await generationOf(runQuery));
    const rows = await readRows(runQuery, [GENERATION_ID, ...positions.map(({ id }) => id)]);
    const rowOf = (id: string) => rows.find(({ _id }) => _id === id);
    if (rowOf(GENERATION_ID)?.generation !== own) {
      restart('the database holds another rebuild generation');
      return;
    }
    for (const one of positions) one.mergeWritten(rowOf(one.id)?.offsets);
    onProgress();
    await openMissing(options, { generation: own, running, onProgress }, scope, signal);
    // When a topic ends before the position, it was truncated or recreated: records below the position may be unread.
    // The source that reads the topic goes back then. Beside other instances it may be another's, so the ends are requested.
    // All at once, so that they share a request for the metadata.
    const checkTopic = async ([name, catchUp]: readonly [string, CatchUp]): Promise<void> => {
      const offsets = catchUp.positions.mergeOwn();
      if (catchUp.positions.isAhead() || isWithin(offsets, await catchUp.endsFromNow())) return;
      await runQuery((models) => forgetGeneration(models.positions, { generation: own }));
      restart(`the topic of ${name} ends before the position already read (truncated or recreated)`);
    };
    await settleAll([...catchUps].map(checkTopic));
  };
  const positions = projections.flatMap(({ name, topics, positionsName, readsForOthers }) => {
    const options = {
      generation: () => generation,
      runQuery,
      readsForOthers,
      running: () => running.get(name),
    };
    return topics.map((topic) => new Positions({ topic, name: positionsName ?? topic, ...options }));
  });
  const catchUps = createCatchUps(positions, kafka, scope.log);
  const writing = startWriting(positions, scope.log);
  const { onProgress } = writing;
  const checking = repeat({ name: 'checking topics', everyMs: CHECK_EVERY_MS, log: scope.log, work: check });
  scope.onClose('projections', async () => {
    // Not awaited: while Kafka is unreachable, opening a projection ends only when the Kafka client is closed.
    checking.stop().catch(scope.fail);
    await Promise.all([...running.values()].map((one) => one.stop({ deadlineMs: STOP_MS })));
    await writing.stop();
  });
  scope.health.readiness('projections', () =>
    running.size === projections.length ? undefined : 'the projections are not running yet',
  );
  addGauges(running, scope);
  const topics = [...new Set(projections.flatMap(({ topics }) => topics))];
  watchRetention({ kafka, topics, sources: running }, scope);
  return catchUps;
}
