import type { Delivery } from './case-file.js';

/** What can be wrong. */
export type FindingKind =
  | 'lost'
  | 'not-recovered'
  | 'invented'
  | 'other-bytes'
  | 'too-early'
  | 'from-nowhere'
  | 'too-many-attempts'
  | 'wrong-delay'
  | 'unexplained-repeat'
  | 'not-in-force'
  | 'wrong-signature'
  | 'died-early'
  | 'rejected'
  | 'wrong-log'
  | 'wrong-transaction'
  | 'wrong-configuration'
  | 'not-back'
  | 'not-stopped';

/** One thing that is not as promised. */
export interface Finding {
  readonly kind: FindingKind;
  /** What is wrong, with its figures. */
  readonly text: string;
  /** What it is about; its name and story are reported. */
  readonly delivery?: Delivery;
}
