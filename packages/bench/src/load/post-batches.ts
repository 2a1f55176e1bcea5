import { Agent } from 'undici';
import { makeEvents } from './make-events.js';
import type { EventPlan } from './make-events.js';

export interface BatchPlan {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly batch: number;
  readonly tenants: readonly string[];
  readonly seed: number;
}

/** What became of posted batches so far. */
export interface Posted {
  /** Requests by status; `cut` when no answer came. */
  readonly requests: Readonly<Record<string, number>>;
  readonly events: { readonly sent: number; readonly accepted: number };
}

/** Posts to `ingest` as fast as it answers, whatever it answers, until it is ended. */
export interface BatchFlood {
  posted(): Posted;
  end(): Promise<void>;
}

/** Bodies are made before and sent again and again: an event that is posted twice is accepted twice. */
const BODIES = 50;

function makeBodies({ batch, tenants, seed }: BatchPlan): readonly string[] {
  const plan: EventPlan = { count: batch, seed, tenants };
  return Array.from({ length: BODIES }, (_, index) =>
    [...makeEvents({ ...plan, seed: seed + index })].map(({ event }) => JSON.stringify(event)).join('\n'),
  );
}

const acceptedIn = (body: string): number => body.split('"status":"accepted"').length - 1;

export function floodBatches(plan: BatchPlan): BatchFlood {
  const agent = new Agent({ connections: plan.connections, pipelining: 1 });
  const bodies = makeBodies(plan);
  const { origin, pathname } = new URL(plan.url);
  const requests: Record<string, number> = {};
  let [turn, sent, accepted, ended] = [0, 0, 0, false];

  const post = async (): Promise<string> => {
    const body = bodies[turn++ % bodies.length] ?? '';
    sent += plan.batch;
    try {
      const answer = await agent.request({
        ...{ origin, path: pathname, method: 'POST' },
        headers: { authorization: `Bearer ${plan.token}`, 'content-type': 'application/x-ndjson' },
        body,
      });
      const text = await answer.body.text();
      if (answer.statusCode === 202) accepted += acceptedIn(text);
      return String(answer.statusCode);
    } catch {
      return 'cut';
    }
  };
  const postOn = async (): Promise<void> => {
    while (!ended) {
      const word = await post();
      requests[word] = (requests[word] ?? 0) + 1;
    }
  };
  const posting = Promise.all(Array.from({ length: plan.connections }, postOn));
  return {
    posted: () => ({ requests: { ...requests }, events: { sent, accepted } }),
    end: async () => {
      ended = true;
      await posting;
      await agent.close();
    },
  };
}
