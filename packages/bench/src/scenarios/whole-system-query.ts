import { flood } from '../world/flood.js';
import { followProjections } from '../world/follow-projections.js';
import { registerEndpoints } from '../world/world.js';
import { trackReference } from './reference-track.js';
import type { Stage } from './scenario.js';
import { measureCase, singlePosts } from './whole-system-case.js';
import type { WholeCase } from './whole-system-case.js';

const TENANT = 'whole-query';
const WARM_UP_EVENTS = 4_000;
const WARM_UP_POSTS = 2_000;
/** The embedded database takes longer to write what is told of a delivery than the delivery takes. */
const COUNT_SHARE = 0.2;

/**
 * One endpoint, by both ways in, with query-api beside the worker: what it uses until it has projected the last attempt
 * is counted, too. No bars: they are of what has to run for a delivery.
 */
export async function measureWithQueryApi(whole: Stage): Promise<void> {
  const stage: Stage = {
    ...whole,
    sizes: { ...whole.sizes, count: Math.max(1, Math.round(whole.sizes.count * COUNT_SHARE)) },
    report: ({ figures, ...report }) =>
      whole.report({
        ...report,
        figures: figures.map(({ bar: _bar, worstOnly: _worstOnly, ...figure }) => figure),
      }),
  };
  const world = await stage.openWorld({ tenants: [TENANT], ports: 1, withQueryApi: true });
  const endpoints = await registerEndpoints(world, [{ tenantId: TENANT, path: '/whole-query' }]);
  await stage.run('warm-up with query-api', async () => {
    await flood(world, endpoints, WARM_UP_EVENTS);
    await flood(world, endpoints, WARM_UP_POSTS, await singlePosts(world));
    await followProjections(world);
  });
  const parts = { stage, world, track: trackReference(world) };
  const whenDelivered = async (): Promise<void> => {
    await followProjections(world);
  };
  const cases: readonly WholeCase[] = [
    { name: 'POST of single events, with query-api', fanOut: 1, through: 'ingest', whenDelivered },
    { name: 'produced to the topic, with query-api', fanOut: 1, through: 'topic', whenDelivered },
  ];
  for (const one of cases) await measureCase(parts, one, endpoints);
}
