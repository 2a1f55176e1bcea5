import { EVENT_TYPES } from '@webhooks/contracts';
import type { AttemptLogEntry } from '@webhooks/contracts';
import { createRandom } from '@webhooks/testkit';
import type { DeliveryFilter } from '../../../src/delivery-log/delivery-store.js';
import { orderBy, chainOrders } from '../../../src/order.js';
import { cancelled, dead, delivered, failed, packRecord } from './entries.js';
import type { OpenLog } from './open-log.js';

export const REFS = [1, 2, 3].map((place) => `0191e7a2-0000-7000-8000-00000000000${place}`);
const EVENTS = 60;
const MAKERS = [delivered, delivered, delivered, failed, dead, cancelled] as const;
const STATUSES = { attempt: 'pending', dead: 'dead', cancelled: 'cancelled', deferred: 'pending' } as const;

/** A delivery as the model knows it. */
export interface Known extends Required<Omit<DeliveryFilter, 'from' | 'to' | 'endToEndId' | 'txId'>> {
  readonly deliveryId: string;
  readonly createdAt: number;
}

const eventTypeOf = (event: number) => EVENT_TYPES[event % EVENT_TYPES.length] ?? 'PIX_OUT';

function knownOf(entry: AttemptLogEntry): Known {
  const { deliveryId, ref, eventId, eventType, at } = entry;
  const isDelivered = entry.kind === 'attempt' && entry.result === 'delivered';
  const status = isDelivered ? 'delivered' : STATUSES[entry.kind];
  return { deliveryId, ref, eventId, eventType, status, createdAt: at };
}

/** Times with many ties, some of them close together and some days apart. */
const SPREADS = [1, 10, 1_000, 60_000, 86_400_000 * 3] as const;

/** One entry for each of 60 events and 3 refs; another seed makes other events. */
export function entriesOf(tenantId: string, base: number, seed: number): readonly AttemptLogEntry[] {
  const random = createRandom(seed);
  return Array.from({ length: EVENTS }, (_, event) =>
    REFS.map((ref) => {
      const at = base - random.int(0, 5) * random.pick(SPREADS);
      const over = { at, eventType: eventTypeOf(event) };
      const make = MAKERS[random.int(0, MAKERS.length - 1)] ?? delivered;
      return make(over, { tenantId, ref, eventId: `evt_${seed}_${event}` });
    }),
  ).flat();
}

/** Writes entries and gives back what the model knows of them. */
export async function fill(log: OpenLog, entries: readonly AttemptLogEntry[]): Promise<readonly Known[]> {
  await log.apply(packRecord(...entries));
  return entries.map(knownOf);
}

/** What a filter means, said as simply as possible: the newest first. */
export const matching = (all: readonly Known[], filter: DeliveryFilter): readonly Known[] =>
  all
    .filter((one) => filter.ref === undefined || one.ref === filter.ref)
    .filter((one) => filter.eventId === undefined || one.eventId === filter.eventId)
    .filter((one) => filter.eventType === undefined || one.eventType === filter.eventType)
    .filter((one) => filter.status === undefined || one.status === filter.status)
    .filter((one) => filter.from === undefined || one.createdAt >= filter.from.getTime())
    .filter((one) => filter.to === undefined || one.createdAt < filter.to.getTime())
    .toSorted(
      chainOrders(
        orderBy(({ createdAt }) => createdAt),
        orderBy(({ deliveryId }) => deliveryId),
      ),
    )
    .toReversed();

const VALUES = {
  ref: [undefined, REFS[1]],
  eventId: [undefined, 'evt_1_8'],
  eventType: [undefined, 'PIX_DYNAMIC_PAID'],
  status: [undefined, 'pending', 'delivered', 'dead', 'cancelled'],
} as const;

/** Every combination of filters: 160. */
export function everyFilter(from: Date, to: Date): readonly DeliveryFilter[] {
  let filters: readonly Record<string, unknown>[] = [{}];
  for (const [name, values] of Object.entries({ ...VALUES, from: [undefined, from], to: [undefined, to] })) {
    filters = filters.flatMap((filter) =>
      values.map((value) => (value === undefined ? filter : { ...filter, [name]: value })),
    );
  }
  return filters;
}

/** A filter as a caller writes it. */
export function queryOf(filter: DeliveryFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter as Record<string, string | Date>))
    query.set(name, value instanceof Date ? value.toISOString() : value);
  return query.toString();
}
