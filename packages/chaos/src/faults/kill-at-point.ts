import { setTimeout as delay } from 'node:timers/promises';
import { NotNow } from '../fault.js';
import type { Fault } from '../fault.js';
import { arm, disarm, whoPassed } from '../points/armed.js';
import { POINTS } from '../points/points.js';
import type { Point } from '../points/points.js';
import { SERVICES, untilBack, whatRuns } from '../world/processes.js';
import { beginRedelivery } from '../world/redeliver.js';
import type { World } from '../world/world.js';

const [firstPoint, ...otherPoints] = POINTS.map(({ name }) => name);
/** Nobody may come by: then it is disarmed. */
const PASSED_MS = 10_000;
const LOOK_MS = 20;

/** Who died at a point. */
interface Passed {
  readonly names: readonly [string, ...string[]];
  readonly pid: number;
}

/**
 * The process that died: one that was seen running, else one of the point's service that is just being started. Of several
 * that are, each may have been it, and the same when they all run again by now: then each has to be back.
 */
export function namesOfDead(
  pid: number,
  { service }: Pick<Point, 'service'>,
  seen: { readonly names: ReadonlyMap<number, string>; readonly running: ReadonlySet<string> },
): Passed['names'] {
  const known = seen.names.get(pid);
  if (known !== undefined) return [known];
  const own = SERVICES.filter((process) => process === service || process === `${service}-2`);
  const [first = service, ...others] = own.filter((process) => !seen.running.has(process));
  return [first, ...others];
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
      return { pid, names: namesOfDead(pid, point, { names, running: new Set(running.keys()) }) };
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
  targets: [firstPoint ?? '', ...otherPoints],
  lasts: [0, 0],
  begin: async (target, world) => {
    const point = POINTS.find(({ name }) => name === target);
    if (!point) throw new Error(`there is no point ${target}`);
    const redelivery = point.ofRedelivery === true ? await beginRedelivery(world) : undefined;
    arm(world.pointsDir, target);
    const { names, pid } = await untilPassed(world, point);
    world.killed.push(names[0]);
    return async () => {
      await untilBack(world, new Map(names.map((name) => [name, pid])));
      await redelivery?.untilCompleted();
    };
  },
};

export default killAtPoint;
