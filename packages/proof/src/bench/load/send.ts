import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeEvent, renderNotification } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { openProducer } from '@webhooks/testkit/account';
import { Agent } from 'undici';
import { monotonicMicros, percentilesOf } from '../measure.js';

/** The target of a run's events. */
export type TargetPlan =
  /** Straight to the topic, acks=all. */
  | { readonly kind: 'topic'; readonly brokers: readonly string[] }
  /** `POST /integration/v1/events` to ingest, one event a request. */
  | { readonly kind: 'ingest'; readonly url: string; readonly token: string }
  /** Directly to an endpoint, without the service: the reference for comparison. */
  | { readonly kind: 'endpoint'; readonly url: string; readonly caFile: string };

/** An event, encoded for its target. */
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
  /** Maximum number of events in one request. */
  readonly batch: number;
  /** Number of requests in flight when there is no rate. */
  readonly inFlight: number;
  /**
   * Events that become due within this time are sent together, milliseconds. Less takes CPU time from other processes, more makes bursts.
   */
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
    // Enough to produce faster than any worker reads.
    inFlight: 2,
    // `linger.ms` of Kafka's own producer since 4.0.
    lingerMs: 5,
    send: async (events) => {
      await producer.send(events.map(({ key, body }) => ({ key, value: body })));
    },
    close: producer.close,
  };
}

interface Posting extends Pick<Target, 'encode'> {
  /** The authority to trust; absent without TLS. */
  readonly ca?: Buffer;
  readonly headersOf: (id: string) => Record<string, string>;
}

/** Opens a target that posts one event a request. It uses undici's `dispatch`, because `request` creates a stream for each response. */
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
          // undici refuses a handler that lacks the two empty functions.
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

/** Opens the target of a plan. The caller closes it. */
export async function openTarget(plan: TargetPlan): Promise<Target> {
  const type = { 'content-type': 'application/json' };
  switch (plan.kind) {
    case 'topic':
      return openTopic(plan.brokers);
    case 'ingest':
      return openPosting(plan.url, {
        // As a payment system that serves all tenants posts: without the id, which ingest derives from the fact.
        encode: ({ id: _derived, ...posted }) => Buffer.from(JSON.stringify(posted)),
        headersOf: () => ({ ...type, authorization: `Bearer ${plan.token}` }),
      });
    case 'endpoint':
      return openPosting(plan.url, {
        ca: readFileSync(plan.caFile),
        encode: renderNotification,
        // The headers of a notification, without the signature.
        headersOf: (id) => ({
          ...type,
          'user-agent': 'webhooks/1',
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
          'webhook-attempt': '1',
        }),
      });
  }
}

/** Times by index of the event, monotonic microseconds. */
const newTimes = (count: number) => ({
  dueAt: new Float64Array(count),
  acknowledgedAt: new Float64Array(count),
  /** 99th percentile of the delay between scheduled and actual sending; 0 without a rate. */
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
 * Sends each event when it is due. A late event keeps its due time, so a stall of any process, also of the generator, shows in the
 * latencies.
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
    times.acknowledgedAt.fill(monotonicMicros(), from, to);
  };
  for (let from = 0; from < events.length;) {
    const due = ((monotonicMicros() - startedAt) * perSecond) / 1_000_000 + 1;
    const to = Math.min(events.length, from + target.batch, Math.floor(due));
    if (to > from) {
      const sending = send(from, to);
      // Awaited after the loop; until then Node must not report a rejection as unhandled.
      sending.catch(() => undefined);
      inFlight.push(sending);
      from = to;
    } else await delay(target.lingerMs);
  }
  await Promise.all(inFlight);
  return { ...times, lateMicros: percentilesOf(lateness).p99 };
}

/**
 * Sends all events. With a rate (open loop), each event is sent at its scheduled time, whether or not earlier ones are done. Without a rate
 * (closed loop), the target's number of requests is always in flight. Resolves when the last event was acknowledged; rejects when one was
 * not.
 */
export const sendAll = (events: readonly Outgoing[], target: Target, perSecond?: number): Promise<Sent> =>
  perSecond === undefined ? sendFlood(events, target) : sendScheduled(events, target, perSecond);
