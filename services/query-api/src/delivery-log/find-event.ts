import { deliveryIdOf } from '@webhooks/contracts';
import type { Database } from '../database.js';
import type { DeliveryFilter } from './access-path.js';
import type { DeliverySummaryRow } from './delivery-model.js';
import { refsOf } from './known-endpoints.js';

/** Documents that one statement names, at most. */
const MAX_IDS = 500;
/** What a list shows: everything but the attempts themselves. */
export const SUMMARY = { attempts: 0, history: 0 } as const;

/** The ids that a tenant's deliveries of an event can have: one for the endpoint that is named, or for each. */
export async function idsOfEvent(
  ask: ReturnType<Database['within']>,
  tenantId: string,
  { eventId, ref }: Pick<DeliveryFilter, 'ref'> & { readonly eventId: string },
): Promise<readonly string[]> {
  const refs = ref === undefined ? await refsOf(ask, tenantId) : [ref];
  return refs.map((one) => deliveryIdOf(tenantId, one, eventId));
}

/** The deliveries of one event, in no order: as many as the tenant has endpoints at most, and found by their ids. */
export async function findOfEvent(
  ask: ReturnType<Database['within']>,
  tenantId: string,
  filter: Pick<DeliveryFilter, 'ref'> & { readonly eventId: string },
): Promise<readonly DeliverySummaryRow[]> {
  const ids = await idsOfEvent(ask, tenantId, filter);
  const found: DeliverySummaryRow[] = [];
  for (let from = 0; from < ids.length; from += MAX_IDS) {
    const part = ids.slice(from, from + MAX_IDS);
    const rows = await ask(({ deliveries }) =>
      deliveries
        .find({ _id: { $in: part } }, SUMMARY)
        .lean<DeliverySummaryRow[]>()
        .exec(),
    );
    // An id is made of its tenant's name; nobody has to trust in that alone.
    found.push(...rows.filter((row) => row.tenantId === tenantId));
  }
  return found;
}
