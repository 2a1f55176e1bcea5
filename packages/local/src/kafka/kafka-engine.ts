import type { EngineLifecycle } from '../engine/engine-lifecycle.js';
import type { EngineKind } from '../engine/named-address.js';
import type { Log } from '../engine/log.js';
import type { Detour } from './broker-properties.js';

export interface KafkaOptions {
  /** Folder of the embedded broker; made when missing, kept after `stop`. */
  readonly dataDir: string;
  /** Preferred port of the embedded broker; a free one is taken when it is in use or not given. */
  readonly port?: number;
  /** Further ports of the embedded broker that lead through somebody else; default none. Its own port never does. */
  readonly detours?: readonly Detour[];
  /**
   * For load that lasts: the embedded broker's hot code is compiled by all means, as Java does by itself. Default false:
   * compiled quickly, which starts sooner and takes more CPU time for each record.
   */
  readonly forLoad?: boolean;
  /** Receives the choice, and progress of what takes longer than two seconds. Default: nothing is printed. */
  readonly log?: Log;
}

export type KafkaSettings = KafkaOptions & { readonly log: Log };

export interface KafkaEngine extends EngineLifecycle {
  readonly kind: EngineKind;
  /** "host:port" each. */
  readonly brokers: string[];
}
