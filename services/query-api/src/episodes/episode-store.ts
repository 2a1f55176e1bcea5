import { isDeepStrictEqual } from 'node:util';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import { documentSchema, expiring, MAX_STATEMENT, upsertMerged, writeRows } from '../documents.js';
import { omitUndefined } from '../omit-undefined.js';
import { idOf, keyOf } from '../payments/event-store.js';
import { factsOf, NO_EPISODES } from './episode.js';
import type { AlertFact, EndpointEpisodes, Episode } from './episode.js';

/** The fields of every document of the collection `episodes`. */
interface StoredRow {
  readonly _id: string;
  readonly version: number;
  /** `yes` while something is to be reviewed. Only such documents are in the index. */
  readonly open?: 'yes';
  /** When the last of it was over; absent while it is open. The retention counts from it. */
  readonly closedAt?: Date;
}

/**
 * The episodes of one endpoint that has failed; `_id`: `tenantId/ref`. One document for all of them, because one
 * compare-and-set write then ends an episode and begins the next, once.
 */
export interface EpisodeRow extends StoredRow, EndpointEpisodes {}

/**
 * What the alert endpoints of one tenant get next; `_id`: `tenantId/`. It is filled by one compare-and-set write and then
 * published, so a crash repeats the same bytes.
 */
export interface OutboxRow extends StoredRow {
  /** When it was filled last, Unix milliseconds. */
  readonly filledAt: number;
  readonly tasks: readonly { readonly ref: string; readonly eventId: string; readonly body: string }[];
  /** The facts that are reported, each with the id of its document. */
  readonly facts: readonly (Pick<AlertFact, 'kind' | 'at'> & { readonly id: string })[];
}

type RunEpisodeQuery = RunQuery<{ readonly episodes: Model<EpisodeRow> }>;
/** Starts a step of writing, which has a deadline of its own. */
interface Writing {
  readonly writing: () => RunEpisodeQuery;
}

export function episodeModelOn(connection: Connection, retentionMs: number): Model<EpisodeRow> {
  const schema = documentSchema<EpisodeRow>();
  schema.index({ open: 1, _id: 1 }, { partialFilterExpression: { open: { $gt: '' } } });
  schema.index({ closedAt: 1 }, expiring(retentionMs));
  return connection.model<EpisodeRow>('Episode', schema, 'episodes');
}

/** Returns the next version of a document. */
function nextRow({ _id, version }: EpisodeRow, state: EndpointEpisodes): EpisodeRow {
  const { current, past, settledUntil, deadAt, certificateNotAfter, reported } = state;
  const known = { past, settledUntil, reported, ...omitUndefined({ current, deadAt, certificateNotAfter }) };
  const isOpen = current !== undefined || factsOf(state, Infinity, 0).length > 0;
  const closedAt = new Date(Math.max(settledUntil, deadAt ?? 0, certificateNotAfter ?? 0));
  return { _id, version: version + 1, ...known, ...(isOpen ? { open: 'yes' } : { closedAt }) };
}

/** Changes the episodes of endpoints, by the ids of their documents; see `upsertMerged`. `change` must be idempotent. */
export function changeEpisodes<T>(
  database: Writing,
  changes: ReadonlyMap<string, T>,
  change: (row: EpisodeRow, by: T) => EndpointEpisodes,
): Promise<void> {
  const runQuery = database.writing();
  return upsertMerged<EpisodeRow, T>(
    (statement) => runQuery(({ episodes }) => statement(episodes.collection)),
    changes,
    (known, by, _id) => {
      const row = known ?? { _id, version: 0, ...NO_EPISODES };
      const next = nextRow(row, change(row, by));
      return isDeepStrictEqual({ ...next, version: row.version }, known) ? undefined : next;
    },
  );
}

/** Returns the documents with these ids. */
export const findEpisodes = (
  runQuery: RunEpisodeQuery,
  ids: readonly string[],
): Promise<readonly EpisodeRow[]> =>
  runQuery(({ episodes }) =>
    episodes
      .find({ _id: { $in: ids } })
      .lean<EpisodeRow[]>()
      .exec(),
  );

/** Returns the open episodes of a tenant, by ref: a range of the index of open documents. */
export async function findCurrent(
  runQuery: RunEpisodeQuery,
  tenantId: string,
): Promise<ReadonlyMap<string, Episode>> {
  // The outbox has the id `tenantId/`, and `0` follows `/`.
  const filter = { open: 'yes', _id: { $gt: keyOf(tenantId, ''), $lt: `${tenantId}0` } } as const;
  const rows = await runQuery(({ episodes }) =>
    episodes.find(filter, { current: 1 }).lean<EpisodeRow[]>().exec(),
  );
  return new Map(rows.flatMap(({ _id, current }) => (current ? [[idOf(_id), current]] : [])));
}

/** Returns the outbox of a tenant; an empty one when there is none. */
export async function findOutbox(database: Writing, tenantId: string): Promise<OutboxRow> {
  const _id = keyOf(tenantId, '');
  const found = await database.writing()(({ episodes }) => episodes.findById(_id).lean<OutboxRow>().exec());
  return found ?? { _id, version: 0, filledAt: 0, tasks: [], facts: [] };
}

/** Writes the next version of an outbox. Returns false when another instance was first. */
export const writeOutbox = async (database: Writing, row: OutboxRow): Promise<boolean> =>
  (await database.writing()(({ episodes }) => writeRows(episodes.collection, [row]))).length === 0;

/** Returns a page of the open documents, sorted by id. `after`: the last id of the page before. */
export function findOpen(database: Writing, after: string): Promise<readonly (EpisodeRow | OutboxRow)[]> {
  const filter = { open: 'yes', _id: { $gt: after } } as const;
  return database.writing()(({ episodes }) =>
    episodes.find(filter).sort({ _id: 1 }).limit(MAX_STATEMENT).lean<(EpisodeRow | OutboxRow)[]>().exec(),
  );
}
