import { topicDoor } from './doors.js';
import { runLoad } from './run-load.js';
import type { RunPlan, RunResult } from './run-plan.js';
import type { BenchEndpoint, World } from './world.js';

/** Records of one request of the flood, and requests under way: enough to be ahead of any worker. */
const BATCH = 500;
const UNDER_WAY = 2;

let seeds = 0;
/** A seed that no other run of this process has. */
export const nextSeed = (): number => (seeds += 1);

export const tenantsOf = (endpoints: readonly BenchEndpoint[]): readonly string[] => [
  ...new Set(endpoints.map(({ tenantId }) => tenantId)),
];

/** Puts events on the topic as fast as it takes them: the worker then works at its limit. */
export function flood(
  world: World,
  endpoints: readonly BenchEndpoint[],
  count: number,
  more: Partial<RunPlan> = {},
): Promise<RunResult> {
  return runLoad(world, {
    events: { count, seed: nextSeed(), tenants: tenantsOf(endpoints) },
    door: topicDoor(world),
    pace: { kind: 'flood', underWay: UNDER_WAY },
    batch: BATCH,
    endpoints,
    ...more,
  });
}

/** Sends events at a fixed rate, whatever becomes of them. */
export function openLoop(
  world: World,
  endpoints: readonly BenchEndpoint[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  more: Partial<RunPlan> = {},
): Promise<RunResult> {
  return runLoad(world, {
    events: { count: Math.round(perSecond * seconds), seed: nextSeed(), tenants: tenantsOf(endpoints) },
    door: topicDoor(world),
    pace: { kind: 'scheduled', perSecond },
    batch: BATCH,
    endpoints,
    ...more,
  });
}

/** So that figures are of open connections, a heap that has its size, and mostly of compiled code. */
const WARM_UP_EVENTS = 8_000;
export const warmUp = async (world: World, endpoints: readonly BenchEndpoint[]): Promise<void> => {
  await flood(world, endpoints, WARM_UP_EVENTS);
};

/** V8 compiles a worker at its limit for six seconds, and 9 % of its CPU time went there when measured: not what a day looks like. */
const COMPILED_AFTER = 40_000;

/** So many deliveries to each of these groups, or twice the run's own `count`: figures are of compiled code then. */
export async function warmUpFully(
  world: World,
  groups: readonly (readonly BenchEndpoint[])[],
  count: number,
): Promise<void> {
  const deliveries = Math.min(COMPILED_AFTER, 2 * count);
  for (const endpoints of groups)
    await flood(world, endpoints, Math.ceil(deliveries / Math.max(1, endpoints.length)));
}
