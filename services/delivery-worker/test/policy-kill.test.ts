import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { TOPICS } from '@webhooks/contracts';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { openBench } from './start-worker.js';
import type { Bench } from './start-worker.js';

const LONG = { timeoutMs: 60_000 };
const WAIT_MS = 2_000;
const policy = { retryDelays: Array.from({ length: 4 }, () => `${WAIT_MS / 1_000}s`) };

let bench: Bench;
let worker: ChildProcess | undefined;
beforeAll(async () => {
  bench = await openBench();
  // It makes the topics.
  await (await bench.startWorker()).stop();
});
afterAll(async () => {
  worker?.kill('SIGKILL');
  await bench.stop();
});

it('an endpoint keeps its own schedule although the worker is killed in each second wait', async () => {
  const endpoint = await startEndpoint({ reply: 500 });
  worker = bench.spawnWorker();
  const dead = await bench.follow(TOPICS.deadLetters);
  await bench.configure(buildRecord({ endpointUrl: endpoint.url, policy }));
  await bench.send(buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT' }));
  const attempts = (): string[] => [
    ...new Set(endpoint.arrivals.map(({ headers }) => headers['webhook-attempt'] ?? '')),
  ];
  for (const attempt of [1, 3]) {
    await eventually(() => expect(attempts()).toContain(String(attempt)), LONG);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    worker = bench.spawnWorker();
  }
  await eventually(() => expect(dead).not.toEqual([]), LONG);
  expect(dead.map(({ headers }) => [headers['dead-reason'], headers['attempt']])).toEqual([
    ['attempts-exhausted', '5'],
  ]);
  expect(attempts()).toEqual(['1', '2', '3', '4', '5']);
  const firstOf = (attempt: string): number =>
    endpoint.arrivals.find(({ headers }) => headers['webhook-attempt'] === attempt)?.startedAt ?? 0;
  for (const [at, next] of attempts().slice(1).entries())
    expect(firstOf(next) - firstOf(String(at + 1))).toBeGreaterThanOrEqual(WAIT_MS - 1);
  await endpoint.close();
}, 180_000);
