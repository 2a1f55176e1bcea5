import { setTimeout as sleep } from 'node:timers/promises';
import { fetchEndOffsets, watchRetention } from '@webhooks/kafka';
import type { Kafka, SourceHealth } from '@webhooks/kafka';
import {
  addSourceGauge,
  createLogThrottle,
  errorFields,
  repeat,
  settleAll,
  shareNext,
} from '@webhooks/runtime';
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

interface Readers {
  readonly generation: string;
  readonly running: Running;
  readonly onProgress: () => void;
}

/** Opens the projections that are not running. Tries all of them, then rejects when one could not be opened. */
async function openMissing(
  { kafka, groupPrefix, projections }: ProjectionsOptions,
  { generation, running, onProgress }: Readers,
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

/** Logs at most one line in 10 s, with a count and the latest fault: a thousand queries may wait at once. */
function createFaultLog(text: string, log: Logger): (error: unknown) => void {
  const throttle = createLogThrottle();
  return (error) => throttle((times) => log.warn(text, { times, ...errorFields(error) }));
}

function createCatchUps(positions: readonly Positions[], kafka: Kafka, log: Logger) {
  const onFault = createFaultLog(LATE, log);
  return new Map(
    positions.map((one) => {
      const fetchEnds = (deadlineMs: number) => fetchEndOffsets(kafka, one.topic, { deadlineMs });
      return [one.name, new CatchUp({ positions: one, fetchEnds, onFault })];
    }),
  );
}

/** Returns a function that writes the positions that have moved, `POLL_MS` after the call, once for all calls. It never rejects. */
function createWriter(positions: readonly Positions[], log: Logger): () => Promise<void> {
  const onFault = createFaultLog('writing the positions failed; trying again', log);
  const write = async (): Promise<void> => {
    for (const one of positions) await one.write();
  };
  return shareNext(
    () => write().catch(onFault),
    () => sleep(POLL_MS),
  );
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
    await openMissing(options, { generation: own, running, onProgress }, scope, signal);
    for (const one of positions) one.mergeWritten(rowOf(one.id)?.offsets);
    onProgress();
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
  const writeSoon = createWriter(positions, scope.log);
  // Positions move only after a broker's response and after a batch. What could not be written is written at the next one.
  const onProgress = (): void => void writeSoon().catch(scope.fail);
  const checking = repeat({ name: 'checking topics', everyMs: CHECK_EVERY_MS, log: scope.log, work: check });
  scope.onClose('projections', async () => {
    // Not awaited: while Kafka is unreachable, opening a projection ends only when the Kafka client is closed.
    checking.stop().catch(scope.fail);
    await Promise.all([...running.values()].map((one) => one.stop({ deadlineMs: STOP_MS })));
    await writeSoon();
  });
  scope.health.readiness('projections', () =>
    running.size === projections.length ? undefined : 'the projections are not running yet',
  );
  addGauges(running, scope);
  const topics = [...new Set(projections.flatMap(({ topics }) => topics))];
  watchRetention({ kafka, topics, sources: running }, scope);
  return catchUps;
}
