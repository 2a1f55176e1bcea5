import { databaseUnavailable } from '@webhooks/http-api';
import { createRunQuery, openConnection, REQUEST_MS } from '@webhooks/mongodb';
import type { MongodbSettings, RunQuery } from '@webhooks/mongodb';
import type { ServiceScope } from '@webhooks/runtime';
import type { Connection } from 'mongoose';
import { deliveryModelOn, fanOutModelOn } from './delivery-log/delivery-documents.js';
import type { Retention } from './documents.js';
import { episodeModelOn } from './episodes/episode-store.js';
import { healthModelOn } from './endpoint-health/count-attempts.js';
import { eventModelOn } from './payments/event-store.js';
import { positionModelOn } from './projection/positions.js';
import { redeliveryModelOn } from './redelivery/redelivery-store.js';
import { totalsModelOn } from './statements/daily-totals.js';

const modelsOn = (connection: Connection, retention: Retention) => ({
  positions: positionModelOn(connection),
  deliveries: deliveryModelOn(connection, retention.logMs),
  redeliveries: redeliveryModelOn(connection, retention.logMs),
  endpointHealth: healthModelOn(connection),
  episodes: episodeModelOn(connection, retention.logMs),
  events: eventModelOn(connection, retention),
  fanOuts: fanOutModelOn(connection),
  totals: totalsModelOn(connection, retention.logMs),
});

/** Every collection of this service. */
export type Models = ReturnType<typeof modelsOn>;

/**
 * Deadline of one batch of a projection. It is longer than a request, and shorter than the time after which a stalled
 * connection is closed.
 */
const BATCH_MS = 25_000;

/** Opens the database of this service; `openConnection` describes how it stays connected. */
export async function openDatabase(settings: MongodbSettings, retention: Retention, scope: ServiceScope) {
  const socketMs = BATCH_MS + REQUEST_MS;
  const pool = { modelsOn: (connection: Connection) => modelsOn(connection, retention), socketMs };
  const prepare = async (all: Models): Promise<void> => {
    // Makes the indexes equal to code and settings. Drops all others, and TTL indexes of another retention.
    for (const model of Object.values(all)) await model.syncIndexes();
  };
  const models = await openConnection(settings, { ...pool, prepare }, scope);
  const written = await openConnection(settings, { ...pool, name: 'database of projections' }, scope);
  return {
    /** Undefined until the first connection is open and its indexes exist. */
    models,
    /** Runs the statements of one request, all within `ms` from now. Throws 500 `database-unavailable` after that. */
    within: (ms: number): RunQuery<Models> => createRunQuery(models, ms, databaseUnavailable),
    /**
     * Runs the statements of one batch of a projection, on separate connections, so queries do not delay them. Nothing
     * is written before the indexes exist.
     */
    writing: (): RunQuery<Models> =>
      createRunQuery(() => models() && written(), BATCH_MS, databaseUnavailable),
  };
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;
