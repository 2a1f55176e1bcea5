import { AppError } from '@webhooks/http-api';
import { createAsk, openConnection } from '@webhooks/mongodb';
import type { Ask, MongodbSettings } from '@webhooks/mongodb';
import type { ServiceScope } from '@webhooks/runtime';
import type { Connection } from 'mongoose';
import { deliveryModelOn } from './delivery-log/delivery-model.js';
import { fanOutModelOn } from './delivery-log/fan-outs.js';
import { positionModelOn } from './projection/positions.js';
import { healthModelOn } from './endpoint-health/health-model.js';
import { redeliveryModelOn } from './redelivery/redelivery-store.js';
import { eventModelOn } from './payments/event-model.js';
import type { Retention } from './retention.js';

const modelsOn = (connection: Connection, { logMs, transactionMs }: Retention) => ({
  positions: positionModelOn(connection),
  deliveries: deliveryModelOn(connection, logMs),
  redeliveries: redeliveryModelOn(connection, logMs),
  endpointHealth: healthModelOn(connection),
  events: eventModelOn(connection, transactionMs),
  fanOuts: fanOutModelOn(connection),
});

/** Every collection of this service. */
export type Models = ReturnType<typeof modelsOn>;

export interface Database {
  /** Undefined until the first connection stands and the indexes with it. */
  readonly models: () => Models | undefined;
  /** Runs statements of one request, all within `ms` from now; throws 500 `database-unavailable` otherwise. */
  readonly within: (ms: number) => Ask<Models>;
  /** The same for a batch of a projection, by connections of its own: what people ask for does not hold it up. */
  readonly writing: () => Ask<Models>;
}

const databaseUnavailable = (cause?: unknown): AppError =>
  new AppError('database-unavailable', 'the database is not available; try again', {
    headers: { 'retry-after': '1' },
    cause,
  });

/** What the database gets of the 5 s within which a caller is told that it is not available. */
export const REQUEST_MS = 4_000;
/** For a batch of a projection: longer than a request, and shorter than a silent connection lasts. */
const BATCH_MS = 25_000;

/** The database of this service; see `openConnection` for how it stays connected. */
export async function openDatabase(
  settings: MongodbSettings,
  retention: Retention,
  scope: ServiceScope,
): Promise<Database> {
  /** Gives the models of a pool of connections as soon as they may be used. */
  const openPool = async (name: string, work?: (models: Models) => Promise<void>) => {
    let made: Models | undefined;
    const prepare = async (connection: Connection): Promise<void> => {
      made ??= modelsOn(connection, retention);
      await work?.(made);
    };
    const kept = await openConnection(settings, { name, prepare, socketMs: BATCH_MS + REQUEST_MS }, scope);
    return () => (kept.isPrepared() ? made : undefined);
  };
  const models = await openPool('database', async (all) => {
    // As the code and the settings say: others, and those of another retention, are dropped.
    for (const model of Object.values(all)) await model.syncIndexes();
  });
  const written = await openPool('database of projections');
  return {
    models,
    within: (ms) => createAsk(models, ms, databaseUnavailable),
    // Nothing is written without the indexes.
    writing: () => createAsk(() => models() && written(), BATCH_MS, databaseUnavailable),
  };
}
