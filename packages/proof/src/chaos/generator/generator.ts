import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError, ProblemError } from '@webhooks/client';
import type { Client, EventResult } from '@webhooks/client';
import { encodeEvent, EVENT_TYPES } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';
import { openProducer } from '@webhooks/testkit/account';

/** The ways in which an event enters the service. */
export const INGRESSES = ['ingest', 'topic'] as const;
type Ingress = (typeof INGRESSES)[number];

/** How long a broker may wait for all replicas, in milliseconds. */
const SEND_TIMEOUT_MS = 5_000;

/** Sends events to the service, without a retry; resolves with those that were accepted. */
export type SendEvents = (events: readonly PaymentEvent[]) => Promise<readonly PaymentEvent[]>;

/** Whether a service is down or has lost its database or broker: no response, 503, or the 500 whose code says what is unavailable. */
export const isServiceUnavailable = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ProblemError &&
    (error.problem.status === 503 || error.problem.code.endsWith('unavailable')));

const isTooMany = (error: unknown): boolean => error instanceof ProblemError && error.problem.status === 429;

/** Whether an event was accepted. Throws for a result that no valid event may get, and when there is none. */
function isAccepted(id: string, result: EventResult | undefined): boolean {
  if (result?.status === 'accepted') return true;
  if (result?.status === 'unavailable') return false;
  throw new Error(`ingest reported ${result?.status ?? 'nothing'} for the valid event ${id}`);
}

/**
 * Creates a sender to ingest. An event counts as accepted by its result in a 202. No response, a response of an unavailable service, and
 * 429 promise nothing. Throws for any other response, which no valid event may get.
 */
export const createIngestSender =
  (client: Pick<Client, 'postEvents'>): SendEvents =>
  async (events) => {
    try {
      const results = await client.postEvents(events);
      return events.filter(({ id }, index) => isAccepted(id, results[index]));
    } catch (error) {
      if (isServiceUnavailable(error) || isTooMany(error)) return [];
      throw error;
    }
  };

/** Opens a sender to the topic, with `acks=all`. The topic may hold an event twice. */
export async function openTopicIngress(brokers: readonly string[]) {
  const producer = await openProducer(brokers, 'chaos-payment-system');
  const sendEvents: SendEvents = async (events) => {
    const messages = events.map((event) => ({ key: event.data.endToEndId, value: encodeEvent(event) }));
    try {
      await producer.send(messages, SEND_TIMEOUT_MS);
      return events;
    } catch {
      // After any error nothing is promised: the journal has the event as sent, and the checker reads the topic.
      return [];
    }
  };
  return { sendEvents, close: producer.close };
}

/** An event of this run. Without `acceptedAt` nothing was promised: it may arrive or not. Times are Unix milliseconds. */
export interface SentEvent {
  readonly event: PaymentEvent;
  readonly ingress: Ingress;
  readonly sentAt: number;
  /** 202 of ingest, or Kafka's acknowledgement with `acks=all`. */
  readonly acceptedAt?: number;
}

/** The payment system's records of each event before and after it is sent, kept outside of the service: events by their id. */
export type Journal = Map<string, SentEvent>;

interface GeneratorOptions {
  readonly random: Random;
  readonly eventsPerSecond: number;
  readonly ingresses: Readonly<Record<Ingress, SendEvents>>;
  readonly journal: Journal;
  readonly stopping: AbortSignal;
}

/** Interval between batches. They are small, so that a kill finds some in flight: at 500 events a second, 50 of ten. */
const EVERY_MS = 20;
/** Maximum number of batches in flight. Beyond it no events are built, because a payment system would hold them. */
const MAX_IN_FLIGHT = 500;
/** One event of this many goes to the tenant with the large fan-out: at 500 a second, 85 deliveries a second. */
const LARGE_FAN_OUT_ONE_OF = 200;
/** Share of the other events that have the type with one endpoint, as most have in production. Other types have up to three. */
const SHARE_OF_PLAIN = 0.6;

/** Builds a valid event of one of the run's tenants. */
export function makeEvent(random: Random): PaymentEvent {
  if (random.int(1, LARGE_FAN_OUT_ONE_OF) === 1)
    return buildEvent({ tenantId: 'initech', eventType: 'PIX_OUT' }, random);
  const tenantId = random.pick(['acme', 'globex']);
  const eventType = random.chance(SHARE_OF_PLAIN) ? 'PIX_DYNAMIC_PAID' : random.pick(EVENT_TYPES);
  return buildEvent({ tenantId, eventType }, random);
}

/** Records a batch in the journal, sends it to an ingress, and records which events were accepted. */
async function send(
  events: readonly PaymentEvent[],
  ingress: Ingress,
  { journal, ingresses }: GeneratorOptions,
): Promise<void> {
  const sentAt = Date.now();
  for (const event of events) journal.set(event.id, { event, ingress, sentAt });
  const accepted = await ingresses[ingress](events);
  const acceptedAt = Date.now();
  for (const event of accepted) journal.set(event.id, { event, ingress, sentAt, acceptedAt });
}

/**
 * Builds and sends events at a steady rate, to the ingresses in turn, until it is stopped or an ingress fails. The rate does not depend on
 * the responses. Resolves when each batch got its response; rejects with the first fault of an ingress.
 */
export async function generate(options: GeneratorOptions): Promise<void> {
  const startedAt = performance.now();
  const inFlight = new Set<Promise<unknown>>();
  const faults: unknown[] = [];
  let made = 0;
  for (let turn = 0; !options.stopping.aborted && faults.length === 0; turn += 1) {
    const due = Math.floor(((performance.now() - startedAt) * options.eventsPerSecond) / 1_000);
    const count = inFlight.size < MAX_IN_FLIGHT ? Math.min(due - made, options.eventsPerSecond) : 0;
    if (count > 0) {
      const events = Array.from({ length: count }, () => makeEvent(options.random));
      const batch = send(events, INGRESSES[turn % INGRESSES.length] ?? 'ingest', options)
        .catch((error: unknown) => faults.push(error))
        .finally(() => inFlight.delete(batch));
      inFlight.add(batch);
    }
    made = due;
    await delay(EVERY_MS);
  }
  await Promise.all(inFlight);
  if (faults.length > 0) throw new Error('an ingress failed', { cause: faults[0] });
}
