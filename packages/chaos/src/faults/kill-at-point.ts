import { setTimeout as delay } from 'node:timers/promises';
import { NotNow } from '../fault.js';
import type { Fault } from '../fault.js';
import { arm, disarm, whoPassed } from '../points/armed.js';
import { POINTS } from '../points/points.js';
import { SERVICES, untilBack, whatRuns } from '../world/processes.js';
import { beginRedelivery } from '../world/redeliver.js';
import type { World } from '../world/world.js';

const [first, ...others] = POINTS.map(({ name }) => name);
/** Nobody may come by: then it is disarmed. */
const PASSED_MS = 10_000;
const LOOK_MS = 20;

/** Waits for the process that dies at the armed point. */
async function untilPassed({ pointsDir }: World, name: string): Promise<number> {
  const deadline = performance.now() + PASSED_MS;
  for (;;) {
    const pid = whoPassed(pointsDir, name);
    if (pid !== undefined) return pid;
    if (performance.now() > deadline && disarm(pointsDir, name))
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
    const redelivery = point?.ofRedelivery === true ? await beginRedelivery(world) : undefined;
    const before = whatRuns(world, SERVICES);
    arm(world.pointsDir, target);
    const pid = await untilPassed(world, target);
    const name = [...before].find(([, id]) => id === pid)?.[0] ?? point?.service ?? target;
    world.killed.push(name);
    return async () => {
      await untilBack(world, new Map([[name, pid]]));
      await redelivery?.untilCompleted();
    };
  },
};

export default killAtPoint;
