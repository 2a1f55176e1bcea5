import type { ConnectionLimits } from './connection.js';

export interface OriginLimits extends ConnectionLimits {
  /** Connections to one origin; a further attempt waits for a free one within its own deadline. */
  readonly connectionsPerOrigin: number;
  /** Handshakes (resolving, connecting, TLS) that are under way to one origin at once. */
  readonly handshakesPerOrigin: number;
  /** An attempt that has waited so long fails with the next handshake that fails, when none came up meanwhile. */
  readonly patienceMs: number;
  /**
   * With 32 usable connections or more, how long an attempt waits for one of them before another is opened for it, in spare
   * milliseconds (`spareMs`), default 50. A 64th of it from eight on.
   */
  readonly usedConnectionMs: number;
  /** A connection is usable until an answer on it is waited for longer than this, in spare milliseconds, default 500. */
  readonly heldConnectionMs: number;
}
