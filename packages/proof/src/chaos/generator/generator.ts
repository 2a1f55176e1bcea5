import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError, ProblemError } from '@webhooks/client';
import type { Client, EventResult } from '@webhooks/client';
import { encodeEvent, EVENT_TYPES } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';
import { openProducer } from '@webhooks/testkit/account';

/** The ways to give an event to the service. */
export const INGRESSES = ['ingest', 'topic'] as const;
type Ingress = (typeof INGRESSES)[number];

/** How long a broker may take to have all copies, in milliseconds. */
const SEND_TIMEOUT_MS = 5_000;

/** Gives events to the service; resolves with those that were accepted. Never repeats by itself. */
export type Give = (events: readonly PaymentEvent[]) => Promise<readonly PaymentEvent[]>;

/**
 * Whether a service is down or has lost its database or broker: no response, 503, or the 500 whose code says what is
 * unavailable.
 */
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
 * Through ingest: 202, event by event. No response, one of a service that is away, and 429 promise nothing; it throws for any
 * other, which no valid event may get.
 */
export const createIngestSender =
  (client: Pick<Client, 'postEvents'>): Give =>
  async (events) => {
    try {
      const results = await client.postEvents(events);
      return events.filter(({ id }, index) => isAccepted(id, results[index]));
    } catch (error) {
      if (isServiceUnavailable(error) || isTooMany(error)) return [];
      throw error;
    }
  };

/** Straight to the topic, with `acks=all`: an event may stand there twice. */
export async function openTopicIngress(brokers: readonly string[]) {
  const producer = await openProducer(brokers, 'chaos-payment-system');
  const give: Give = async (events) => {
    const messages = events.map((event) => ({ key: event.data.endToEndId, value: encodeEvent(event) }));
    try {
      await producer.send(messages, SEND_TIMEOUT_MS);
      return events;
    } catch {
      // Whatever it was, nothing was promised: the journal says `sent`, and the checker looks at the topic.
      return [];
    }
  };
  return { give, close: producer.close };
}

/** An event of this run. Without `acceptedAt` nothing was promised: it may arrive or not. Times are Unix milliseconds. */
export interface SentEvent {
  readonly event: PaymentEvent;
  readonly ingress: Ingress;
  readonly sentAt: number;
  /** 202 of ingest, or Kafka's acknowledgement with `acks=all`. */
  readonly acceptedAt?: number;
}

/** What the payment system writes down before and after each event, outside of the service: events by their id. */
export type Journal = Map<string, SentEvent>;

interface GeneratorOptions {
  readonly random: Random;
  readonly eventsPerSecond: number;
  readonly ingresses: Readonly<Record<Ingress, Give>>;
  readonly journal: Journal;
  readonly stopping: AbortSignal;
}

/** Small batches, so that a kill finds some under way: at 500 events a second, 50 of ten. */
const EVERY_MS = 20;
/** Batches that wait for a response; beyond that, events are not made: a payment system would hold them. */
const MAX_IN_FLIGHT = 500;
/** One event of so many goes to the tenant with the large fan-out: at 500 a second, 85 deliveries a second. */
const LARGE_FAN_OUT_ONE_OF = 200;
/** So many of the others are of the type with one endpoint, as most are where nobody tries things out; others have up to three. */
const SHARE_OF_PLAIN = 0.6;

export function makeEvent(random: Random): PaymentEvent {
  if (random.int(1, LARGE_FAN_OUT_ONE_OF) === 1)
    return buildEvent({ tenantId: 'initech', eventType: 'PIX_OUT' }, random);
  const tenantId = random.pick(['acme', 'globex']);
  const eventType = random.chance(SHARE_OF_PLAIN) ? 'PIX_DYNAMIC_PAID' : random.pick(EVENT_TYPES);
  return buildEvent({ tenantId, eventType }, random);
}

/** Writes a batch down, gives it to an ingress, and writes down what was accepted. */
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
 * Makes events at a steady rate, in turn for one ingress and the other, until it is stopped or an ingress fails. The rate does
 * not depend on what becomes of the events. Resolves when each batch got its response; rejects with the first fault of an ingress.
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
