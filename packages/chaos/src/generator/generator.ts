import { setTimeout as delay } from 'node:timers/promises';
import { EVENT_TYPES } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';
import type { Give } from './doors.js';
import type { Door, Journal } from './journal.js';

export interface GeneratorOptions {
  readonly random: Random;
  readonly eventsPerSecond: number;
  readonly doors: Readonly<Record<Door, Give>>;
  readonly journal: Journal;
  readonly stopping: AbortSignal;
}

const EVERY_MS = 100;
/** Batches that wait for an answer at one door; beyond that, events are not made: a payment system would hold them. */
const MAX_UNDER_WAY = 50;
/** One event of so many goes to the tenant with the large fan-out. */
const LARGE_FAN_OUT_ONE_OF = 60;

export function makeEvent(random: Random): PaymentEvent {
  if (random.int(1, LARGE_FAN_OUT_ONE_OF) === 1)
    return buildEvent({ tenantId: 'initech', eventType: 'PIX_OUT' }, random);
  const tenantId = random.pick(['acme', 'globex']);
  return buildEvent({ tenantId, eventType: random.pick(EVENT_TYPES) }, random);
}

/** One door: what is under way there, and how to give it a batch. */
class DoorKeeper {
  readonly #door: Door;
  readonly #options: GeneratorOptions;
  readonly #underWay = new Set<Promise<void>>();
  #fault: { readonly first: unknown } | undefined;

  constructor(door: Door, options: GeneratorOptions) {
    this.#door = door;
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#underWay.size >= MAX_UNDER_WAY;
  }

  /** A batch came to an end that no door may have, or could not be written down: `settled` says which. */
  get hasFailed(): boolean {
    return this.#fault !== undefined;
  }

  send(events: readonly PaymentEvent[]): void {
    const { journal, doors } = this.#options;
    const at = Date.now();
    journal.append(events.map((event) => ({ kind: 'sent', at, door: this.#door, event })));
    const giving = doors[this.#door](events).then((accepted) => {
      const acceptedAt = Date.now();
      if (accepted.length > 0)
        journal.append(accepted.map((id) => ({ kind: 'accepted', at: acceptedAt, id })));
    });
    const owned = giving
      .catch((error: unknown) => {
        this.#fault ??= { first: error };
      })
      .finally(() => this.#underWay.delete(owned));
    this.#underWay.add(owned);
  }

  /** Waits for all answers; throws the first fault of all batches there were. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#fault) throw new Error(`the door ${this.#door} failed`, { cause: this.#fault.first });
  }
}

/**
 * Makes events at a steady rate, in turn for one door and the other, whatever becomes of them, until it is stopped or a
 * door fails. Each is in the journal before it is sent, and once more when it was accepted. Resolves when each door has
 * answered; rejects with the first fault of a door, or of the journal.
 */
export async function generate(options: GeneratorOptions): Promise<void> {
  const keepers = (['ingest', 'topic'] as const).map((door) => new DoorKeeper(door, options));
  const startedAt = performance.now();
  let made = 0;
  const isOver = (): boolean => options.stopping.aborted || keepers.some(({ hasFailed }) => hasFailed);
  for (let turn = 0; !isOver(); turn += 1) {
    const due = Math.floor(((performance.now() - startedAt) * options.eventsPerSecond) / 1_000);
    const keeper = keepers[turn % keepers.length];
    if (keeper && !keeper.isFull && due > made)
      keeper.send(
        Array.from({ length: Math.min(due - made, options.eventsPerSecond) }, () =>
          makeEvent(options.random),
        ),
      );
    made = due;
    await delay(EVERY_MS);
  }
  const ends = await Promise.allSettled(keepers.map((keeper) => keeper.settled()));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
