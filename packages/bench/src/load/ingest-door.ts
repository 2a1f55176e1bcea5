import { Agent } from 'undici';
import type { BenchEvent } from './make-events.js';
import type { DoorPlan } from './generator-messages.js';
import type { Door } from './door.js';

/** What a payment system posts: without an id, which `ingest` derives from the fact as we did. */
function toPost({ event }: BenchEvent): string {
  const { id: _derived, ...posted } = event;
  return JSON.stringify(posted);
}

function countAccepted(body: string): number {
  return body.split('"status":"accepted"').length - 1;
}

/** Posts to `ingest` over keep-alive connections. Any answer but 202 for every event rejects. */
export function openIngestDoor(plan: Extract<DoorPlan, { kind: 'ingest' }>): Door {
  const agent = new Agent({ connections: plan.connections, pipelining: 1 });
  const { origin, pathname } = new URL(plan.url);
  const authorization = `Bearer ${plan.token}`;
  return {
    acknowledges: true,
    send: async (events) => {
      const single = events.length === 1;
      const answer = await agent.request({
        origin,
        path: pathname,
        method: 'POST',
        headers: { authorization, 'content-type': single ? 'application/json' : 'application/x-ndjson' },
        body: events.map(toPost).join('\n'),
      });
      if (single && answer.statusCode === 202) return answer.body.dump();
      const body = await answer.body.text();
      if (answer.statusCode !== 202 || countAccepted(body) !== events.length)
        throw new Error(`ingest answered ${answer.statusCode}: ${body.slice(0, 300)}`);
    },
    close: () => agent.close(),
  };
}
