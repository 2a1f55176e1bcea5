import type { Ask } from '@webhooks/mongodb';
import { toEndpointRow } from './endpoint-model.js';
import type { EndpointModel, EndpointRow } from './endpoint-model.js';
import { writeRows } from '../write-rows.js';

type AskEndpoints = Ask<{ readonly endpoints: EndpointModel }>;

/** Keys of 60 characters that one instance remembers to have written: 6 MB. */
const MAX_REMEMBERED = 50_000;
/** A tenant has 1,000 configurations at most unless an operator raises that, to so many at most; none is ever removed. */
const MAX_ENDPOINTS = 100_000;

/**
 * Which endpoints a tenant ever had a delivery for. A delivery's id is made of tenant, ref and event id, so this small
 * collection answers "which deliveries had this event?" by id, and no delivery pays for an index by event.
 */
export class KnownEndpoints {
  readonly #written = new Set<string>();

  /** Writes those that are not known to be written; to be done before their deliveries are. */
  async add(ask: AskEndpoints, endpoints: readonly Omit<EndpointRow, '_id'>[]): Promise<void> {
    const rows = new Map(endpoints.map(toEndpointRow).map((row) => [row._id, row]));
    const fresh = [...rows.values()].filter(({ _id }) => !this.#written.has(_id));
    if (fresh.length === 0) return;
    const inserts = fresh.map((insert) => ({ insert }));
    await ask((models) => writeRows(models.endpoints.collection, inserts));
    if (this.#written.size + fresh.length > MAX_REMEMBERED) this.#written.clear();
    for (const { _id } of fresh) this.#written.add(_id);
  }
}

/** The refs of a tenant's endpoints, in no order. */
export async function refsOf(ask: AskEndpoints, tenantId: string): Promise<readonly string[]> {
  const rows = await ask(({ endpoints }) =>
    endpoints.find({ tenantId }, { ref: 1 }).limit(MAX_ENDPOINTS).lean<EndpointRow[]>().exec(),
  );
  return rows.map(({ ref }) => ref);
}
