import { atLeast, atMost } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import { ingestDoor } from '../world/doors.js';
import { flood } from '../world/flood.js';
import type { RunPlan, RunResult } from '../world/run-plan.js';
import type { BenchEndpoint, World } from '../world/world.js';
import type { ReferenceTrack } from './reference-track.js';
import { runReport, systemCpu } from './run-figures.js';
import type { Stage } from './scenario.js';

/** Connections to `ingest`. */
export const CONNECTIONS = 64;

/** Events at the limit, by one of the two ways in; broker and database are counted. */
export interface WholeCase {
  readonly name: string;
  readonly fanOut: 1 | 5;
  readonly through: 'ingest' | 'topic';
  /** Deliveries each second, at least. */
  readonly perSecond?: number;
  /** CPU of the system for each delivery, at most so many times the reference's for a post. */
  readonly times?: number;
  /** See `RunPlan`. */
  readonly whenDelivered?: () => Promise<void>;
}

/** A flood of single events through `ingest`. */
export async function singlePosts(world: World): Promise<Partial<RunPlan>> {
  const door = await ingestDoor(world, CONNECTIONS);
  return { door, pace: { kind: 'flood', underWay: CONNECTIONS }, batch: 1 };
}

function figuresOf(
  { perSecond, times }: WholeCase,
  result: RunResult,
  referenceMicros: number,
): readonly Figure[] {
  const rate = {
    name: 'deliveries each second',
    value: result.totals.delivered / result.seconds,
    unit: '1/s',
  };
  const cpu = systemCpu(result);
  const cost = { name: "times the reference's CPU for a post", value: cpu / referenceMicros, unit: '×' };
  return [
    { name: 'events each second', value: result.load.accepted / result.seconds, unit: '1/s' },
    perSecond === undefined ? rate : { ...rate, bar: atLeast(perSecond) },
    { name: 'CPU of the whole system for each delivery', value: cpu, unit: 'µs' },
    { name: 'CPU of the reference for each post', value: referenceMicros, unit: 'µs' },
    times === undefined ? cost : { ...cost, bar: atMost(times) },
  ];
}

/** What a case is measured with. */
export interface WholeParts {
  readonly stage: Stage;
  readonly world: World;
  readonly track: ReferenceTrack;
}

/** Returns the events each second; undefined when the run is void. */
export async function measureCase(
  { stage, world, track }: WholeParts,
  one: WholeCase,
  endpoints: readonly BenchEndpoint[],
): Promise<number | undefined> {
  return stage.run(one.name, async () => {
    const how = one.through === 'ingest' ? await singlePosts(world) : {};
    const { whenDelivered } = one;
    const more = { ...how, ...(whenDelivered ? { whenDelivered } : {}) };
    const count = Math.round(stage.sizes.count / Math.sqrt(one.fanOut));
    const { value: result, reference } = await track.around(() => flood(world, endpoints, count, more));
    stage.report(runReport(one.name, result, figuresOf(one, result, reference.cpuMicrosPerPost)));
    return result.load.accepted / result.seconds;
  });
}
