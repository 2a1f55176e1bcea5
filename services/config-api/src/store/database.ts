import { openConnection } from '@webhooks/mongodb';
import type { MongodbSettings } from '@webhooks/mongodb';
import type { ServiceScope } from '@webhooks/runtime';
import { LRUCache } from 'lru-cache';
import { modelOn } from './configuration-model.js';
import type { ConfigurationModel } from './configuration-model.js';

/** Entries of what is merely quicker to know. */
export const REMEMBERED = { max: 10_000 };

/** What this process wrote and saw acknowledged by a majority: spares statements whose answer is known. */
export interface WriteMemory {
  /** The last place that was given, by tenant. */
  readonly positions: LRUCache<string, number>;
  /** The revision, by key. */
  readonly revisions: LRUCache<string, number>;
}

export interface Database {
  readonly memory: WriteMemory;
  /** Undefined until the first connection stands and the unique indexes with it: without them nothing may be written. */
  readonly model: () => ConfigurationModel | undefined;
}

/** The database of the configurations; see `openConnection` for how it stays connected. */
export async function openDatabase(settings: MongodbSettings, scope: ServiceScope): Promise<Database> {
  const prepare = (model: ConfigurationModel) => model.createIndexes();
  const model = await openConnection(settings, { modelsOn: modelOn, prepare }, scope);
  return { memory: { positions: new LRUCache(REMEMBERED), revisions: new LRUCache(REMEMBERED) }, model };
}
