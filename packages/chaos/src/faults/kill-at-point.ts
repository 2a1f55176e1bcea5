import { setTimeout as delay } from 'node:timers/promises';
import { NotNow } from '../fault.js';
import type { Fault } from '../fault.js';
import { arm, disarm, whoPassed } from '../points/armed.js';
import { POINTS } from '../points/points.js';
import type { Point } from '../points/points.js';
import { SERVICES, untilBack, whatRuns } from '../world/processes.js';
import { beginRedelivery } from '../world/redeliver.js';
import type { World } from '../world/world.js';

const [first, ...others] = POINTS.map(({ name }) => name);
/** Nobody may come by: then it is disarmed. */
const PASSED_MS = 10_000;
const LOOK_MS = 20;

/** Who died at a point. */
interface Passed {
  readonly name: string;
  readonly pid: number;
}

/**
 * The process that died: one that was seen running, else the one of the point's service that is just being started. Throws
 * when that leaves nobody, or more than one.
 */
export function nameOfDead(
  pid: number,
  { service, name }: Pick<Point, 'service' | 'name'>,
  seen: { readonly names: ReadonlyMap<number, string>; readonly running: ReadonlySet<string> },
): string {
  const known = seen.names.get(pid);
  if (known !== undefined) return known;
  const starting = SERVICES.filter(
    (process) => (process === service || process === `${service}-2`) && !seen.running.has(process),
  );
  const [only] = starting;
  if (only === undefined || starting.length > 1)
    throw new Error(`process ${pid} died at ${name}, and nobody knows which one it was`);
  return only;
}

/** Waits for the process that dies at the armed point; whoever is started meanwhile is known then. */
async function untilPassed(world: World, point: Point): Promise<Passed> {
  const { pointsDir } = world;
  const deadline = performance.now() + PASSED_MS;
  const names = new Map<number, string>();
  for (;;) {
    const running = whatRuns(world, SERVICES);
    for (const [name, id] of running) names.set(id, name);
    const pid = whoPassed(pointsDir, point.name);
    if (pid !== undefined)
      return { pid, name: nameOfDead(pid, point, { names, running: new Set(running.keys()) }) };
    if (performance.now() > deadline && disarm(pointsDir, point.name))
      throw new NotNow(`nobody came by for ${PASSED_MS / 1_000} s`);
    await delay(LOOK_MS);
  }
}

/** SIGKILL at a named point of the path, by the service itself, between two of its statements. */
const killAtPoint: Fault = {
  name: 'kill-at-point',
  lane: 'system',
  weight: 4,
  targets: [first ?? '', ...others],
  lasts: [0, 0],
  begin: async (target, world) => {
    const point = POINTS.find(({ name }) => name === target);
    if (!point) throw new Error(`there is no point ${target}`);
    const redelivery = point.ofRedelivery === true ? await beginRedelivery(world) : undefined;
    arm(world.pointsDir, target);
    const { name, pid } = await untilPassed(world, point);
    world.killed.push(name);
    return async () => {
      await untilBack(world, new Map([[name, pid]]));
      await redelivery?.untilCompleted();
    };
  },
};

export default killAtPoint;
