import { EVENT_TYPES } from '@webhooks/contracts';
import type { Database } from '../database.js';
import { rangeFilter } from './access-path.js';
import type { PlaceRange } from './access-path.js';
import { DELIVERY_STATUSES } from './delivery.js';
import { KEPT_MS } from './delivery-model.js';
import type { DeliveryRow } from './delivery-model.js';
import { FIRST_PLACE, after, timeText } from './place.js';

type AskModels = ReturnType<Database['within']>;
type SweptRow = Pick<DeliveryRow, '_id' | 'place' | 'expiresAt'>;

/** Documents that one statement looks at, and statements of one sweep: most of them find nothing. */
const STATEMENT = 1_000;
const MAX_STATEMENTS = 1_000;
/** No statement begins later in a sweep. */
const BUDGET_MS = 15_000;

const RANGES = EVENT_TYPES.flatMap((eventType) => DELIVERY_STATUSES.map((status) => ({ eventType, status })));

export interface SweepRun {
  readonly now: Date;
  /** No statement begins after it. */
  readonly signal?: AbortSignal | undefined;
}

/** Removes what expired of some documents; resolves with how many those were. */
async function remove(ask: AskModels, rows: readonly SweptRow[], now: Date): Promise<number> {
  const expired = rows.filter(({ expiresAt }) => expiresAt <= now).map(({ _id }) => _id);
  if (expired.length === 0) return 0;
  // With its time again: an entry may have arrived in between.
  const { deletedCount } = await ask(({ deliveries }) =>
    deliveries.deleteMany({ _id: { $in: expired }, expiresAt: { $lte: now } }).exec(),
  );
  return deletedCount;
}

/**
 * Removes deliveries of which nothing was heard for 30 days. Each was first heard of before that, so it lies among the
 * oldest of its tenant, event type and status, where the index of the lists finds it: no delivery pays for an index by
 * expiry. Those that a redelivery renewed lie there too and are passed over.
 */
export class DeliverySweep {
  /** Tenant and range at which the next statement looks, counted through all of them, and the place in it. */
  #at = 0;
  #low = FIRST_PLACE;

  /** Goes on where the last sweep ended, once round at most; 1,000 statements or 15 s. Resolves with how many it removed. */
  async sweep(ask: AskModels, { now, signal }: SweepRun): Promise<number> {
    const tenants = await ask(({ endpoints }) => endpoints.distinct('tenantId').exec());
    const ranges = tenants.length * RANGES.length;
    const end = performance.now() + BUDGET_MS;
    let removed = 0;
    let left = ranges;
    for (let statement = 0; statement < MAX_STATEMENTS && left > 0; statement += 1) {
      if (performance.now() > end || signal?.aborted) break;
      const rows = await this.#read(ask, tenants, now);
      removed += await remove(ask, rows, now);
      if (this.#goOn(rows, ranges)) left -= 1;
    }
    return removed;
  }

  /** The oldest of the range, those that were removed not among them. */
  #read(ask: AskModels, tenants: readonly string[], now: Date): Promise<readonly SweptRow[]> {
    const tenantId = tenants[Math.floor(this.#at / RANGES.length) % tenants.length];
    const range = RANGES[this.#at % RANGES.length];
    if (tenantId === undefined || range === undefined) throw new Error('expected a tenant and a range');
    const { eventType, status } = range;
    const places: PlaceRange = { low: this.#low, high: timeText(now.getTime() - KEPT_MS + 1) };
    return ask(({ deliveries }) =>
      deliveries
        .find(rangeFilter({ tenantId, eventType }, status, places), { place: 1, expiresAt: 1 })
        .sort({ place: 1 })
        .limit(STATEMENT)
        .lean<SweptRow[]>()
        .exec(),
    );
  }

  /** Sets out for what is behind these; whether that is the next range. Tenants that came meanwhile shift it: no matter. */
  #goOn(rows: readonly SweptRow[], ranges: number): boolean {
    const last = rows.length === STATEMENT ? rows.at(-1) : undefined;
    this.#low = last ? after(last.place) : FIRST_PLACE;
    if (!last) this.#at = (this.#at + 1) % ranges;
    return !last;
  }
}
