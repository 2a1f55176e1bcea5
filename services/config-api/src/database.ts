import { openConnection } from '@webhooks/mongodb';
import type { MongodbSettings } from '@webhooks/mongodb';
import type { ServiceScope } from '@webhooks/runtime';
import type { Connection } from 'mongoose';
import { modelOn } from './configuration-model.js';
import type { ConfigurationModel } from './configuration-model.js';
import { RecentMap } from './recent-map.js';

/** What this process wrote and saw acknowledged by a majority: spares statements whose answer is known. */
export interface WriteMemory {
  /** The last place that was given, by tenant. */
  readonly positions: RecentMap<string, number>;
  /** The revision, by key. */
  readonly revisions: RecentMap<string, number>;
}

export interface Database {
  readonly memory: WriteMemory;
  /** Undefined until the first connection stands and the unique indexes with it: without them nothing may be written. */
  model(): ConfigurationModel | undefined;
}

/** The database of the configurations; see `openConnection` for how it stays connected. */
export async function openDatabase(settings: MongodbSettings, scope: ServiceScope): Promise<Database> {
  let made: ConfigurationModel | undefined;
  const prepare = async (connection: Connection): Promise<void> => {
    made ??= modelOn(connection);
    await made.createIndexes();
  };
  const kept = await openConnection(settings, { prepare }, scope);
  return {
    memory: {
      positions: new RecentMap<string, number>(),
      revisions: new RecentMap<string, number>(),
    },
    model: () => (kept.isPrepared() ? made : undefined),
  };
}
