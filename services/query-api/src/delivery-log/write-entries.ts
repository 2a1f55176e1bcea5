import { isDeepStrictEqual } from 'node:util';
import type { Ask } from '@webhooks/mongodb';
import { toDelivery, toRow } from './delivery-model.js';
import type { DeliveryModel, DeliveryRow } from './delivery-model.js';
import { mergeEntries } from './merge-entries.js';
import type { DeliveryEntry } from './merge-entries.js';
import { writeRows } from '../write-rows.js';
import type { RowWrite } from '../write-rows.js';

type AskDeliveries = Ask<{ readonly deliveries: DeliveryModel }>;
type Groups = ReadonlyMap<string, readonly DeliveryEntry[]>;

/** Deliveries that one statement writes, at most: 0.3 s of the slowest database that is used, in which queries wait. */
const MAX_STATEMENT = 300;
/** While the database writes one part, the next is made ready. */
const LANES = 2;
/** Another instance may have written in between; every round at least one of them got on. */
const MAX_ROUNDS = 8;

/** Its first attempt tells of a delivery that is not written yet, unless a crash or a rebuilding repeats it. */
const isExpectedNew = (entries: readonly DeliveryEntry[]): boolean =>
  entries.some(({ kind, cycle, attempt }) => kind === 'attempt' && cycle === '0' && attempt === 1);

/** Inserts without looking; resolves with those that are there already. */
async function insertNew(ask: AskDeliveries, groups: Groups): Promise<Groups> {
  const all = [...groups];
  if (all.length === 0) return groups;
  const inserts = all.map(([, entries]) => ({ insert: toRow(mergeEntries(undefined, entries), 1) }));
  const { taken } = await ask(({ deliveries }) => writeRows(deliveries.collection, inserts));
  return new Map(taken.map((place) => all[place]).filter((group) => group !== undefined));
}

/** What makes a document tell of these entries too; undefined when it does already. */
function writeOf(
  row: DeliveryRow | undefined,
  entries: readonly DeliveryEntry[],
): RowWrite<DeliveryRow> | undefined {
  if (!row) return { insert: toRow(mergeEntries(undefined, entries), 1) };
  const known = toDelivery(row);
  const merged = mergeEntries(known, entries);
  if (isDeepStrictEqual(known, merged)) return undefined;
  return { replacement: toRow(merged, row.version + 1), readVersion: row.version };
}

/** Reads, merges, writes; resolves with what must be looked at again because others wrote meanwhile. */
async function mergeKnown(ask: AskDeliveries, groups: Groups): Promise<Groups> {
  const ids = [...groups.keys()];
  const rows = await ask(({ deliveries }) =>
    deliveries
      .find({ _id: { $in: ids } })
      .lean<DeliveryRow[]>()
      .exec(),
  );
  const byId = new Map(rows.map((row) => [row._id, row]));
  const writes: { readonly id: string; readonly write: RowWrite<DeliveryRow> }[] = [];
  for (const [id, entries] of groups) {
    const write = writeOf(byId.get(id), entries);
    if (write) writes.push({ id, write });
  }
  if (writes.length === 0) return new Map();
  const { replaced, taken } = await ask(({ deliveries }) =>
    writeRows(
      deliveries.collection,
      writes.map(({ write }) => write),
    ),
  );
  const replacements = writes.filter(({ write }) => 'replacement' in write);
  // Which of them met another version is not told: all are looked at again, and those that were written stay.
  const lost = replaced < replacements.length ? replacements.map(({ id }) => id) : [];
  const again = new Set([...lost, ...taken.map((place) => writes[place]?.id ?? '')]);
  return new Map([...groups].filter(([id]) => again.has(id)));
}

async function writeGroups(ask: AskDeliveries, groups: Groups): Promise<void> {
  const { fresh = [], others = [] } = Object.groupBy([...groups], ([, entries]) =>
    isExpectedNew(entries) ? 'fresh' : 'others',
  );
  let left: Groups = new Map([...(await insertNew(ask, new Map(fresh))), ...others]);
  for (let round = 0; left.size > 0; round += 1) {
    if (round === MAX_ROUNDS) throw new Error(`${left.size} deliveries were written by others all the time`);
    left = await mergeKnown(ask, left);
  }
}

/**
 * Writes what entries tell to the documents of their deliveries. Idempotent, and safe beside other instances. Most
 * deliveries end with their first attempt: those are one bulk insert, and only what is there already is read. Throws when the
 * database did not write all of them.
 */
export async function writeEntries(
  askFor: () => AskDeliveries,
  entries: readonly DeliveryEntry[],
): Promise<void> {
  const groups = [...Map.groupBy(entries, ({ deliveryId }) => deliveryId)];
  let from = 0;
  const writeParts = async (): Promise<void> => {
    while (from < groups.length) {
      const part = groups.slice(from, from + MAX_STATEMENT);
      from += MAX_STATEMENT;
      await writeGroups(askFor(), new Map(part));
    }
  };
  const lanes = Array.from({ length: LANES }, writeParts);
  // All have ended when this throws: nothing is written beside the next try.
  await Promise.allSettled(lanes);
  await Promise.all(lanes);
}
