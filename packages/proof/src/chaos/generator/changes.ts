/** What was requested of config-api for one configuration. */
export type Requested =
  | { readonly what: 'disable' }
  | { readonly what: 'enable' }
  | { readonly what: 'move'; readonly path: string }
  | { readonly what: 'rotate' };

/** One change, as whoever requested it saw it. Times are Unix milliseconds. */
export interface Change {
  readonly ref: string;
  readonly requested: Requested;
  readonly requestedAt: number;
  /** Absent: no response, or one that said no. It may have been made all the same. */
  readonly respondedAt?: number;
  /** False: durable, and not published yet when it was answered. */
  readonly published?: boolean;
  /** The new secret of a rotation. */
  readonly secret?: string;
}

/** Answered, and in force one second later. */
export type MadeChange = Change & { readonly respondedAt: number };

export const isMade = (change: Change): change is MadeChange =>
  change.respondedAt !== undefined && change.published !== false;
