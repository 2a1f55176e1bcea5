import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeEvent, renderNotification } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { openProducer } from '@webhooks/testkit/account';
import { Agent } from 'undici';
import { monotonicMicros, percentilesOf } from '../measure.js';

/** Where events go. */
export type TargetPlan =
  /** Straight to the topic, acks=all. */
  | { readonly kind: 'topic'; readonly brokers: readonly string[] }
  /** `POST /integration/v1/events` to ingest, one event a request. */
  | { readonly kind: 'ingest'; readonly url: string; readonly token: string }
  /** To an endpoint itself, with nothing in between: what the service is compared with. */
  | { readonly kind: 'endpoint'; readonly url: string; readonly caFile: string };

/** An event as its target takes it. */
export interface Outgoing {
  readonly id: string;
  /** Key of its record. */
  readonly key: string;
  readonly body: Buffer;
}

export interface Target {
  encode(event: PaymentEvent): Buffer;
  /** Resolves when each of these events was acknowledged; rejects when one was not: the run is void then. */
  send(events: readonly Outgoing[]): Promise<void>;
  /** Events of one request at most. */
  readonly batch: number;
  /** Requests of a flood that are always under way. */
  readonly inFlight: number;
  /** False when nobody acknowledges: the time of sending counts then. */
  readonly acknowledges: boolean;
  /** What is due within so long goes together, milliseconds: finer costs CPU that others need, coarser makes bursts. */
  readonly lingerMs: number;
  close(): Promise<void>;
}

/** As many as the worker opens to one endpoint (`ENDPOINT_CONCURRENCY`). */
export const CONNECTIONS = 64;

async function openTopic(brokers: readonly string[]): Promise<Target> {
  const producer = await openProducer(brokers, 'bench-payment-system');
  return {
    encode: encodeEvent,
    batch: 500,
    // Enough to be ahead of any worker.
    inFlight: 2,
    acknowledges: true,
    // `linger.ms` of Kafka's own producer since 4.0.
    lingerMs: 5,
    send: async (events) => {
      await producer.send(events.map(({ key, body }) => ({ key, value: body })));
    },
    close: producer.close,
  };
}

interface Posting extends Pick<Target, 'encode' | 'acknowledges'> {
  /** The authority to trust; absent without TLS. */
  readonly ca?: Buffer;
  readonly headersOf: (id: string) => Record<string, string>;
}

/** Posts one event a request, by undici's dispatch: its `request` makes a stream for each response. */
function openPosting(url: string, { ca, headersOf, ...how }: Posting): Target {
  const options = { connections: CONNECTIONS, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };
  const agent = new Agent({ connect: { ca }, ...options });
  const { origin, pathname: path } = new URL(url);
  const post = ({ id, body }: Outgoing): Promise<number> =>
    new Promise((resolve, reject) => {
      let status = 0;
      agent.dispatch(
        { origin, path, method: 'POST', headers: headersOf(id), body },
        {
          // undici refuses a handler without the two that do nothing.
          onRequestStart: () => undefined,
          onResponseStart: (_controller, code) => void (status = code),
          onResponseData: () => undefined,
          onResponseEnd: () => resolve(status),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  return {
    ...how,
    batch: 1,
    inFlight: CONNECTIONS,
    lingerMs: 1,
    send: async (events) => {
      for (const event of events) {
        const status = await post(event);
        if (status < 200 || status > 299) throw new Error(`expected 2xx of ${url}, came ${status}`);
      }
    },
    close: () => agent.close(),
  };
}

export async function openTarget(plan: TargetPlan): Promise<Target> {
  const type = { 'content-type': 'application/json' };
  switch (plan.kind) {
    case 'topic':
      return openTopic(plan.brokers);
    case 'ingest':
      return openPosting(plan.url, {
        // As a payment system that serves all tenants: without the id, which ingest derives from the fact.
        encode: ({ id: _derived, ...posted }) => Buffer.from(JSON.stringify(posted)),
        headersOf: () => ({ ...type, authorization: `Bearer ${plan.token}` }),
        acknowledges: true,
      });
    case 'endpoint':
      return openPosting(plan.url, {
        ca: readFileSync(plan.caFile),
        encode: renderNotification,
        // Those of a notification but its signature.
        headersOf: (id) => ({
          ...type,
          'user-agent': 'webhooks/1',
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
          'webhook-attempt': '1',
        }),
        acknowledges: false,
      });
  }
}

/** Of what was sent, by index of the event; monotonic microseconds. */
const newTimes = (count: number) => ({
  dueAt: new Float64Array(count),
  acknowledgedAt: new Float64Array(count),
  /** How much later than scheduled events were sent: 99 % of them; 0 for a flood. */
  lateMicros: 0,
});
type Sent = ReturnType<typeof newTimes>;

async function sendFlood(events: readonly Outgoing[], target: Target): Promise<Sent> {
  const times = newTimes(events.length);
  let next = 0;
  const sendInTurn = async (): Promise<void> => {
    while (next < events.length) {
      const from = next;
      const to = Math.min(from + target.batch, events.length);
      next = to;
      times.dueAt.fill(monotonicMicros(), from, to);
      await target.send(events.slice(from, to));
      times.acknowledgedAt.fill(monotonicMicros(), from, to);
    }
  };
  await Promise.all(Array.from({ length: target.inFlight }, sendInTurn));
  return times;
}

/**
 * What is due is sent at once. An event that is sent late keeps its due time, so that a stall of anyone, the generator
 * included, shows in the latencies.
 */
async function sendScheduled(events: readonly Outgoing[], target: Target, perSecond: number): Promise<Sent> {
  const times = newTimes(events.length);
  const startedAt = monotonicMicros();
  times.dueAt.forEach((_, index, dueAt) => (dueAt[index] = startedAt + (index * 1_000_000) / perSecond));
  const lateness: number[] = [];
  const inFlight: Promise<void>[] = [];
  const send = async (from: number, to: number): Promise<void> => {
    const sentAt = monotonicMicros();
    for (const dueAt of times.dueAt.subarray(from, to)) lateness.push(sentAt - dueAt);
    await target.send(events.slice(from, to));
    times.acknowledgedAt.fill(target.acknowledges ? monotonicMicros() : sentAt, from, to);
  };
  for (let from = 0; from < events.length;) {
    const due = ((monotonicMicros() - startedAt) * perSecond) / 1_000_000 + 1;
    const to = Math.min(events.length, from + target.batch, Math.floor(due));
    if (to > from) {
      const sending = send(from, to);
      // Awaited when all are sent; until then a fault must not count as unhandled.
      sending.catch(() => undefined);
      inFlight.push(sending);
      from = to;
    } else await delay(target.lingerMs);
  }
  await Promise.all(inFlight);
  return { ...times, lateMicros: percentilesOf(lateness).p99 };
}

/**
 * Sends all events. Open loop with a rate: each event at its scheduled time, whether or not the ones before it are done; closed
 * loop without: as many requests are always under way as the target takes. Resolves when the last event was acknowledged, rejects
 * when one was not.
 */
export const sendAll = (events: readonly Outgoing[], target: Target, perSecond?: number): Promise<Sent> =>
  perSecond === undefined ? sendFlood(events, target) : sendScheduled(events, target, perSecond);
