import type { Load } from '../load/generator.js';
import { CONNECTIONS } from '../load/target.js';
import { figure } from '../report.js';
import type { Scenario, Stage } from '../scenario.js';
import { runLoad, toEndpoint } from '../world/run.js';
import type { RunResult } from '../world/run.js';
import type { World } from '../world/world.js';

/**
 * They take half a second of CPU time to two, which getrusage counts in microseconds. As many are sent before: the generator is
 * compiled then, and what it costs from there on is the limit.
 */
const POSTS = 20_000;

/** The same bytes to the same receiver by the same HTTP client, with nothing around it. */
async function measureReference(world: World, posts: number): Promise<Load> {
  const [origin = ''] = world.receiver.origins;
  const endpoint = { path: '/reference', tenantId: 'reference', origin, ref: '' };
  const { load } = await runLoad(
    world,
    [endpoint],
    { count: POSTS + posts },
    {
      target: toEndpoint(world, endpoint),
      warmUp: POSTS,
    },
  );
  return load;
}

/**
 * Measures in turns with the reference: a machine that others share changes its pace within seconds. Gives the runs, and the
 * mean CPU of the reference for a post before, between and after them.
 */
export async function besideReference(world: World, turns: number, work: () => Promise<RunResult>) {
  const loads = [await measureReference(world, POSTS)];
  const runs: RunResult[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    runs.push(await work());
    loads.push(await measureReference(world, POSTS));
  }
  const cpuMicros = loads.reduce((sum, load) => sum + load.cpuMicros, 0);
  return { runs, referenceMicros: cpuMicros / (loads.length * POSTS) };
}

async function measure(stage: Stage): Promise<void> {
  const posts = stage.sizes.count;
  const world = await stage.openWorld({ tenants: [], ports: 1 });
  await stage.run(`undici's dispatch over ${CONNECTIONS} connections`, async () => {
    const { startedAt, endedAt, cpuMicros } = await measureReference(world, posts);
    return {
      ledger: `posted=${posts} received=${posts} lost=0`,
      figures: [
        figure('posts each second', (posts * 1_000_000) / (endedAt - startedAt), '1/s'),
        figure('CPU for each post', cpuMicros / posts, 'µs'),
      ],
    };
  });
}

export const reference: Scenario = {
  title: 'the same HTTP client posting the same bytes to the same receiver; count: posts',
  usual: { count: 40_000, seconds: 0 },
  whole: { count: 400_000, seconds: 0 },
  measure,
};
