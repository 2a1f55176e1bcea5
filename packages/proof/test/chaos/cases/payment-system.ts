import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';

/** Far above `PUBLISH_TIMEOUT_MS`: a response comes. */
const ANSWER_DEADLINE_MS = 60_000;
const SIDE_BY_SIDE = 4;
const TENANT = 'acme';
export const EVENT_TYPE = 'PIX_OUT';

/** What ingest responded to one event. */
interface Answered {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly code: unknown;
}

/** Posts events to ingest, and keeps those that were refused, as a payment system has to. */
export interface PaymentSystem {
  /** Ids of what got a 202: these are promised. */
  readonly accepted: ReadonlySet<string>;
  /** Waits to be posted again. */
  readonly kept: ReadonlySet<PaymentEvent>;
  /** Posts so many new events at the same time. */
  post(count: number): Promise<readonly Answered[]>;
  /** Posts new events, four at a time and without a pause, until aborted; resolves with every status there was. */
  postOn(signal: AbortSignal): Promise<ReadonlySet<number>>;
  /** Posts all that is kept once more. */
  postKept(): Promise<void>;
}

interface Ingress {
  readonly ingest: string;
  readonly token: () => Promise<string>;
}

async function postTo({ ingest, token }: Ingress, event: PaymentEvent): Promise<Answered> {
  const response = await fetch(`${ingest}/integration/v1/events`, {
    method: 'POST',
    body: JSON.stringify(event),
    headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
  });
  const body: unknown = await response.json();
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
  return { status: response.status, retryAfter: response.headers.get('retry-after'), code };
}

export function createPaymentSystem(ingress: Ingress): PaymentSystem {
  const accepted = new Set<string>();
  const kept = new Set<PaymentEvent>();
  const postOne = async (event: PaymentEvent): Promise<Answered> => {
    kept.add(event);
    const response = await postTo(ingress, event);
    if (response.status === 202) {
      accepted.add(event.id);
      kept.delete(event);
    }
    return response;
  };
  const postNew = () => postOne(buildEvent({ tenantId: TENANT, eventType: EVENT_TYPE }));
  return {
    accepted,
    kept,
    post: (count) => Promise.all(Array.from({ length: count }, postNew)),
    postOn: async (signal) => {
      const statuses = new Set<number>();
      const goOn = async () => {
        while (!signal.aborted) statuses.add((await postNew()).status);
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, goOn));
      return statuses;
    },
    postKept: async () => {
      await Promise.all([...kept].map(postOne));
    },
  };
}
