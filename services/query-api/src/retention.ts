import type { IndexOptions } from 'mongoose';

/** How long documents are kept, in milliseconds. */
export interface Retention {
  /** A delivery of which nothing was heard for so long is forgotten. */
  readonly logMs: number;
  /** An event can be sent again for so long after it was appended; a chain of pulled pages may stand still so long. */
  readonly notificationMs: number;
  /** A payment can be asked for so long after its event was appended; undefined: for ever. */
  readonly transactionMs: number | undefined;
}

/** An index on a time by which the database removes what is older than that. */
export const expiring = (ms: number): IndexOptions => ({ expireAfterSeconds: Math.ceil(ms / 1_000) });
