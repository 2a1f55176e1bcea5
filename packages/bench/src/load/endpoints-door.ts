import { readFileSync } from 'node:fs';
import { renderNotification } from '@webhooks/contracts';
import { Agent } from 'undici';
import type { Door } from './door.js';
import type { DoorPlan } from './generator-messages.js';
import { notificationHeaders } from './notification-headers.js';

/** Posts notifications to the endpoints themselves: the shortest way there is, for latencies to be held against. */
export function openEndpointsDoor(plan: Extract<DoorPlan, { kind: 'endpoints' }>): Door {
  const agent = new Agent({
    connect: { ca: readFileSync(plan.caFile) },
    connections: plan.connections,
    pipelining: 1,
  });
  const targets = plan.urls.map((url) => new URL(url));
  let turn = 0;
  const postOne = async (id: string, body: Buffer): Promise<void> => {
    const target = targets[turn++ % targets.length];
    if (!target) throw new Error('no endpoint to post to');
    const { statusCode, body: answer } = await agent.request({
      origin: target.origin,
      path: target.pathname,
      method: 'POST',
      headers: notificationHeaders(id),
      body,
    });
    await answer.dump();
    if (statusCode !== 200) throw new Error(`the receiver answered ${statusCode}`);
  };
  return {
    acknowledges: false,
    send: async (events) => {
      await Promise.all(events.map(({ event }) => postOne(event.id, renderNotification(event))));
    },
    close: () => agent.close(),
  };
}
