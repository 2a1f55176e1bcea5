/** What was asked of config-api for one configuration. */
export type Asked =
  | { readonly what: 'disable' }
  | { readonly what: 'enable' }
  | { readonly what: 'move'; readonly path: string }
  | { readonly what: 'rotate' };

/** One change, as whoever asked for it saw it. Times are Unix milliseconds. */
export interface Change {
  readonly ref: string;
  readonly asked: Asked;
  readonly askedAt: number;
  /** Absent: no answer, or one that said no. It may have been made all the same. */
  readonly answeredAt?: number;
  /** False: durable, and not published yet when it was answered. */
  readonly published?: boolean;
  /** The new secret of a rotation. */
  readonly secret?: string;
}

/** Answered, and in force one second later. */
export type MadeChange = Change & { readonly answeredAt: number };

export const isMade = (change: Change): change is MadeChange =>
  change.answeredAt !== undefined && change.published !== false;
