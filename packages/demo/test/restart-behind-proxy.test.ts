import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@webhooks/local';
import { buildEvent } from '@webhooks/testkit';
import { startBalancer } from '@webhooks/testkit/account';
import type { Balancer } from '@webhooks/testkit/account';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';
import { has, needs } from './tool.js';

const nginx = has('nginx', '-v');
const dir = mkdtempSync(join(tmpdir(), 'nginx-'));
let running: TestStack;
let proxy: Balancer | undefined;

afterAll(async () => {
  await proxy?.stop();
  await running.stop();
  rmSync(dir, { recursive: true, force: true });
});

const hostOf = (url: string): string => new URL(url).host;

/** A proxy in front of two instances that looks four times a second whether the first is ready, as an ingress controller does. */
async function startProxy(first: { url: string; admin: string }, second: string) {
  const backends = (isReady: boolean) =>
    (isReady ? [hostOf(first.url), second] : [second]).map((host) => ({ service: 'ingest', host }));
  const balancer = await startBalancer(dir, backends(true));
  proxy = balancer;
  let wasReady = true;
  const look = async (): Promise<void> => {
    const isReady = await fetch(`${first.admin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady === wasReady) return;
    wasReady = isReady;
    await balancer.route(backends(isReady));
  };
  const looking = setInterval(() => void look().catch(() => undefined), 250);
  return { url: balancer.url, stopLooking: () => clearInterval(looking) };
}

async function tokenOf({ stack }: TestStack): Promise<string> {
  const { clientId, clientSecret } = stack.clientOf('acme');
  const response = await fetch(stack.description().tokenEndpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

const PER_MS = 0.15;

/** Posts 150 events a second until it is stopped; gives how often each status came. */
function keepPosting(url: string, token: string) {
  const statuses = new Map<string, number>();
  const posts: Promise<void>[] = [];
  const post = async (): Promise<void> => {
    const { tenantId: _own, ...event } = buildEvent();
    const status = await fetch(`${url}/integration/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(event),
    }).then(
      async (response) => (await response.text(), String(response.status)),
      (error: unknown) => String((error as Error).cause ?? error),
    );
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const startedAt = performance.now();
  // By the clock: the timer comes late on a busy machine.
  const posting = setInterval(() => {
    while (posts.length < PER_MS * (performance.now() - startedAt)) posts.push(post());
  }, 20);
  return async () => {
    clearInterval(posting);
    await Promise.all(posts);
    return statuses;
  };
}

needs('nginx', nginx)(
  'no call fails while one of two instances behind nginx is restarted, at 150 a second',
  async () => {
    running = await startTestStack({ ingest: { SHUTDOWN_DELAY_MS: '6000' } });
    const { stack } = running;
    const { ingest, admin } = stack.description();
    const second = await freePort();
    await stack.fleet.startReplica({ name: 'ingest-2', like: 'ingest', env: { PORT: String(second) } });
    const { url, stopLooking } = await startProxy(
      { url: ingest, admin: String(admin['ingest']) },
      `127.0.0.1:${second}`,
    );
    const token = await tokenOf(running);
    const stop = keepPosting(url, token);
    await stack.fleet.stop('ingest');
    await stack.fleet.start('ingest');
    const statuses = await stop();
    stopLooking();
    expect([...statuses.keys()]).toEqual(['202']);
    expect(statuses.get('202')).toBeGreaterThan(300);
  },
  120_000,
);
