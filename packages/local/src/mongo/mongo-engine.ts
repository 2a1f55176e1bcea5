import type { EngineLifecycle } from '../engine/engine-lifecycle.js';
import type { EngineKind } from '../engine/named-address.js';
import type { Log } from '../engine/log.js';

export interface MongoOptions {
  /** Folder of the embedded database; made when missing, kept after `stop`. */
  readonly dataDir: string;
  /** Preferred port of the embedded database; a free one is taken when it is in use or not given. */
  readonly port?: number;
  /** Receives the choice, and progress of what takes longer than two seconds. Default: nothing is printed. */
  readonly log?: Log;
}

export type MongoSettings = MongoOptions & { readonly log: Log };

export interface MongoEngine extends EngineLifecycle {
  readonly kind: EngineKind;
  /** The connection string for `database`; without an argument the one that names no database. */
  uri(database?: string): string;
}
