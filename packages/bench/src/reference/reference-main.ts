import { readFileSync } from 'node:fs';
import { renderNotification } from '@webhooks/contracts';
import { writeAcceptances } from '../load/acceptance-file.js';
import { makeEvents } from '../load/make-events.js';
import { notificationHeaders } from '../load/notification-headers.js';
import { monotonicMicros } from '../measure/clock.js';
import { usageOf } from '../measure/process-usage.js';
import { openDispatchPoster, openRequestPoster } from './poster.js';
import type { Poster } from './poster.js';
import type { ReferencePlan, ReferenceReport } from './reference-messages.js';

// The limit, measured in a process of its own: the same bytes to the same TLS receiver by the same HTTP client, and nothing
// around it. Everything is made before the clock starts and written down after it has stopped.
interface Post {
  readonly id: string;
  readonly headers: string[];
  readonly body: Buffer;
}

const TENANT = 'reference';
const plan = JSON.parse(process.argv[2] ?? '') as ReferencePlan;
const { origin, pathname } = new URL(plan.url);

async function postAll(posters: readonly Poster[], posts: readonly Post[]): Promise<void> {
  let next = 0;
  const postInTurn = async (poster: Poster): Promise<void> => {
    for (let post = posts[next++]; post; post = posts[next++]) {
      const status = await poster.post(pathname, post.headers, post.body);
      if (status !== 200) throw new Error(`the receiver answered ${status}`);
    }
  };
  await Promise.all(posters.map(postInTurn));
}

const count = plan.warmUp + plan.posts;
const posts = [...makeEvents({ count, seed: plan.seed, tenants: [TENANT] })].map(({ event }) => ({
  id: event.id,
  headers: notificationHeaders(event.id),
  body: renderNotification(event),
}));
const ca = readFileSync(plan.caFile);
const open = plan.by === 'dispatch' ? openDispatchPoster : openRequestPoster;
const posters = Array.from({ length: plan.concurrency }, () => open(origin, ca));
await postAll(posters, posts.slice(0, plan.warmUp));

const measured = posts.slice(plan.warmUp);
const before = process.cpuUsage();
const startedAt = monotonicMicros();
await postAll(posters, measured);
const endedAt = monotonicMicros();
const { user, system } = process.cpuUsage(before);

const { rssBytes, peakBytes } = usageOf(process.pid);
await Promise.all(posters.map((poster) => poster.close()));
const times = { tenantId: TENANT, dueAt: startedAt, acknowledgedAt: endedAt };
writeAcceptances(
  plan.file,
  posts.map(({ id }) => ({ id, ...times })),
);
const report: ReferenceReport = {
  kind: 'measured',
  seconds: (endedAt - startedAt) / 1_000_000,
  cpuMicros: user + system,
  rssBytes,
  peakBytes,
};
process.send?.(report);
process.disconnect();
