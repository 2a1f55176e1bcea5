import { configurationKey } from '@webhooks/contracts';
import { AppError, databaseUnavailable } from '@webhooks/http-api';
import { createRunQuery, isDuplicate } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import type { ConfigurationName } from '../publication/configuration-cache.js';
import { toConfiguration, toRow } from './database.js';
import type { ChangeEntry, ConfigurationModel, ConfigurationRow, Database } from './database.js';
import { hasEnded, idOf, routeKeyOf } from '../webhooks/configuration.js';
import type { Configuration, Route } from '../webhooks/configuration.js';
import type { ListQuery } from '../webhooks/list-webhooks.js';

/** Most documents of one statement of background work. */
export const PAGE = 500;

/** Most alert endpoints of one tenant that have not ended. */
export const MAX_ALERT_ENDPOINTS = 10;

/** Most changes that a document keeps; as many as the contract lists. */
const MAX_CHANGES = 20;

type RunModelQuery = RunQuery<ConfigurationModel>;

type Filter = Readonly<Record<string, unknown>>;
type Sort = Record<string, 1 | -1>;

function readsOf(runQuery: RunModelQuery) {
  const findOne = async (filter: Filter): Promise<Configuration | undefined> => {
    const row = await runQuery((model) => model.findOne(filter).lean<ConfigurationRow>().exec());
    return row ? toConfiguration(row) : undefined;
  };
  const find = async (filter: Filter, limit: number, sort: Sort = { position: 1 }, left = {}) => {
    const rows = await runQuery((model) =>
      model.find(filter, left).sort(sort).limit(limit).lean<ConfigurationRow[]>().exec(),
    );
    return rows.map(toConfiguration);
  };
  const findByRef = (tenantId: string, ref: string) => findOne({ _id: configurationKey(tenantId, ref) });
  return {
    findByRef,
    /**
     * Finds a configuration. Throws 404 when the tenant has none with this ref that is wanted; default: a webhook, or an
     * alert endpoint that has not ended.
     */
    get: async (
      { tenantId, ref }: ConfigurationName,
      isWanted = (found: Configuration): boolean => !hasEnded(found),
    ): Promise<Configuration> => {
      const found = await findByRef(tenantId, ref);
      if (!found || !isWanted(found)) throw new AppError('not-found', 'there is no webhook with this ref');
      return found;
    },
    findByRoute: (tenantId: string, route: Route) => findOne({ routeKey: routeKeyOf(tenantId, route) }),
    /** Finds the configurations of one application (or of none) and one event type, with any URL. */
    findByType: (tenantId: string, { applicationId, eventType }: Route, limit: number) =>
      find({ tenantId, applicationId: applicationId ?? { $exists: false }, eventType }, limit),
    /** Finds the configurations of one event type and URL, with any application. */
    findByUrl: (tenantId: string, { eventType, normalizedUrl }: Route, limit: number) =>
      find({ tenantId, eventType, normalizedUrl }, limit),
    /**
     * Lists webhooks, the oldest first: their positions are above 0. Without policies: 1,000 policies with certificates
     * have 37 MB.
     */
    list: (tenantId: string, { filter, after, limit }: ListQuery) =>
      find({ tenantId, position: { $gt: after }, ...filter }, limit, { position: 1 }, { policy: 0 }),
    /**
     * Returns how many webhooks (`side` 1) or alert endpoints (-1) a tenant has ever registered. None is removed, so it is
     * their last position.
     */
    countRegistered: async (tenantId: string, side: 1 | -1): Promise<number> => {
      const [last] = await find({ tenantId }, 1, { position: side === 1 ? -1 : 1 }, { policy: 0 });
      return Math.max(side * (last?.position ?? 0), 0);
    },
    /** Lists the alert endpoints that have not ended, the oldest first. */
    alertEndpoints: (tenantId: string) =>
      find({ tenantId, position: { $lt: 0 }, enabled: true }, MAX_ALERT_ENDPOINTS, { position: -1 }),
    /** Returns the last changes of a configuration, the newest first. */
    changes: async ({ tenantId, ref }: ConfigurationName): Promise<readonly ChangeEntry[]> => {
      const _id = configurationKey(tenantId, ref);
      const row = await runQuery((model) =>
        model.findOne({ _id }, { changes: 1 }).lean<ConfigurationRow>().exec(),
      );
      return row?.changes?.toReversed() ?? [];
    },
    /**
     * Finds at most 500 configurations whose change is not known to be in Kafka, and was not made between these times. One that was
     * made later was made by a clock that is ahead.
     */
    unpublished: (from: Date, until: Date) =>
      find({ unpublished: true, updatedAt: { $not: { $gte: from, $lte: until } } }, PAGE, { _id: 1 }),
    /** Returns one page of all configurations, in the order of their keys, after `afterKey`. */
    page: (afterKey: string, limit: number) => find({ _id: { $gt: afterKey } }, limit, { _id: 1 }),
  };
}

/** Selects a document in the revision that was read. A write has no effect when the revision has changed. */
const asRead = (configuration: Configuration) => ({
  _id: idOf(configuration),
  revision: configuration.revision,
});

/** Fields that a document may lack. */
const OPTIONAL = ['applicationId', 'routeKey', 'unpublished', 'alert'] as const;

function writesOf(runQuery: RunModelQuery) {
  const write = async <T>(statement: (model: ConfigurationModel) => Promise<T>): Promise<T | 'taken'> => {
    try {
      return await runQuery(statement);
    } catch (error) {
      if (isDuplicate(error)) return 'taken';
      throw error;
    }
  };
  return {
    /**
     * Inserts a configuration, with its first change. `taken`: another document has the ref, the route or the position.
     */
    insert: async (configuration: Configuration, entry?: ChangeEntry): Promise<'inserted' | 'taken'> => {
      const changes = entry && { changes: [entry] };
      const result = await write((model) => model.insertOne({ ...toRow(configuration), ...changes }));
      return result === 'taken' ? result : 'inserted';
    },

    /**
     * Replaces `before` by `after`, and adds `entry` to its changes. `stale`: the revision has changed. `taken`: another
     * document has the route.
     */
    replace: async (
      before: Configuration,
      after: Configuration,
      entry?: ChangeEntry,
    ): Promise<'replaced' | 'stale' | 'taken'> => {
      const { _id, ...row } = toRow(after);
      const update = {
        $set: row,
        $unset: Object.fromEntries(OPTIONAL.filter((name) => !(name in row)).map((name) => [name, 1])),
        ...(entry && { $push: { changes: { $each: [entry], $slice: -MAX_CHANGES } } }),
      };
      const result = await write((model) => model.updateOne(asRead(before), update).exec());
      if (result === 'taken') return result;
      return result.matchedCount === 1 ? 'replaced' : 'stale';
    },
  };
}

function notesOf(runQuery: RunModelQuery) {
  return {
    /**
     * Makes sure that a revision is durable. One that Kafka has is durable. Any other one gets a write without changes: a
     * majority write waits until all earlier writes are on a majority. Resolves with false when the revision has changed.
     */
    confirm: async (configuration: Configuration): Promise<boolean> => {
      const { revision, publishedRevision } = configuration;
      if (publishedRevision >= revision) return true;
      const result = await runQuery((model) =>
        model.updateOne(asRead(configuration), { $set: { revision } }).exec(),
      );
      return result.matchedCount === 1;
    },

    /** Records that Kafka has this revision. A lost note causes one more publication. */
    markPublished: async (configuration: Configuration): Promise<void> => {
      const note = {
        $set: { publishedRevision: configuration.revision },
        $unset: { unpublished: 1 as const },
      };
      const options = { writeConcern: { w: 1 } };
      await runQuery((model) => model.updateOne(asRead(configuration), note, options).exec());
    },
  };
}

export type ConfigurationStore = ReturnType<typeof storeWithin>;

/**
 * Opens the configurations in MongoDB. All statements together must end within `ms` from now; after that they throw
 * `database-unavailable`. Every write is one atomic change of one document.
 */
export function storeWithin(database: Database, ms: number) {
  const runQuery = createRunQuery(database, ms, databaseUnavailable);
  return { ...readsOf(runQuery), ...writesOf(runQuery), ...notesOf(runQuery) };
}
