import { setTimeout as delay } from 'node:timers/promises';
import { EVENT_TYPES } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';
import { DOORS } from './doors.js';
import type { Door, Give } from './doors.js';

/** An event of this run. Without `acceptedAt` nothing was promised: it may arrive or not. Times are Unix milliseconds. */
export interface SentEvent {
  readonly event: PaymentEvent;
  readonly door: Door;
  readonly sentAt: number;
  /** 202 of ingest, or Kafka's acknowledgement with `acks=all`. */
  readonly acceptedAt?: number;
}

/** What the payment system writes down before and after each event, outside of the service: events by their id. */
export type Journal = Map<string, SentEvent>;

export interface GeneratorOptions {
  readonly random: Random;
  readonly eventsPerSecond: number;
  readonly doors: Readonly<Record<Door, Give>>;
  readonly journal: Journal;
  readonly stopping: AbortSignal;
}

/** Small batches, so that a kill finds some under way: at 500 events a second, 50 of ten. */
const EVERY_MS = 20;
/** Batches that wait for a response; beyond that, events are not made: a payment system would hold them. */
const MAX_UNDER_WAY = 500;
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

/** Writes a batch down, gives it to a door, and writes down what was accepted. */
async function send(
  events: readonly PaymentEvent[],
  door: Door,
  { journal, doors }: GeneratorOptions,
): Promise<void> {
  const sentAt = Date.now();
  for (const event of events) journal.set(event.id, { event, door, sentAt });
  const accepted = await doors[door](events);
  const acceptedAt = Date.now();
  for (const event of accepted) journal.set(event.id, { event, door, sentAt, acceptedAt });
}

/**
 * Makes events at a steady rate, in turn for one door and the other, whatever becomes of them, until it is stopped or a
 * door fails. Resolves when each batch was answered; rejects with the first fault of a door.
 */
export async function generate(options: GeneratorOptions): Promise<void> {
  const startedAt = performance.now();
  const underWay = new Set<Promise<unknown>>();
  const faults: unknown[] = [];
  let made = 0;
  for (let turn = 0; !options.stopping.aborted && faults.length === 0; turn += 1) {
    const due = Math.floor(((performance.now() - startedAt) * options.eventsPerSecond) / 1_000);
    const count = underWay.size < MAX_UNDER_WAY ? Math.min(due - made, options.eventsPerSecond) : 0;
    if (count > 0) {
      const events = Array.from({ length: count }, () => makeEvent(options.random));
      const batch = send(events, DOORS[turn % DOORS.length] ?? 'ingest', options)
        .catch((error: unknown) => faults.push(error))
        .finally(() => underWay.delete(batch));
      underWay.add(batch);
    }
    made = due;
    await delay(EVERY_MS);
  }
  await Promise.all(underWay);
  if (faults.length > 0) throw new Error('a door failed', { cause: faults[0] });
}
