import { readFileSync } from 'node:fs';
import { renderNotification } from '@webhooks/contracts';
import { generateSample } from '@webhooks/ledger';
import { Agent } from 'undici';
import type { Figure, Rig } from './scenario.js';

const POSTS = 20_000;
const CONCURRENCY = 64;

async function post(agent: Agent, origin: string, body: Buffer): Promise<void> {
  const answer = await agent.request({
    origin,
    path: '/reference',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`the receiver answered ${answer.statusCode}`);
}

async function postAll(agent: Agent, origin: string, bodies: readonly Buffer[]): Promise<void> {
  const waiting = bodies.values();
  const postInTurn = async (): Promise<void> => {
    for (const body of waiting) await post(agent, origin, body);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, postInTurn));
}

/** The limit: the same bytes to the same TLS receiver by the same HTTP library, with nothing around it. */
export async function measureReference({
  stack,
  receiver,
  count = POSTS,
  print,
}: Rig): Promise<readonly Figure[]> {
  const { caFile } = stack.description().tls;
  const agent = new Agent({ connect: { ca: readFileSync(caFile) }, connections: CONCURRENCY, pipelining: 1 });
  const bodies = generateSample(count, 5).map(renderNotification);
  await postAll(agent, receiver.origin, bodies.slice(0, 2_000));
  const before = process.cpuUsage();
  const started = performance.now();
  await postAll(agent, receiver.origin, bodies);
  const seconds = (performance.now() - started) / 1_000;
  const used = process.cpuUsage(before);
  await agent.close();
  const figures: readonly Figure[] = [
    { scenario: 'reference', name: 'posts each second', value: count / seconds, unit: '1/s' },
    {
      scenario: 'reference',
      name: 'CPU for each post',
      value: (used.user + used.system) / count,
      unit: 'µs',
    },
  ];
  print(`reference: ${count} posts in ${seconds.toFixed(1)} s`);
  return figures;
}
