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
  | 'wrong-answer'
  | 'wrong-configuration'
  | 'not-redelivered'
  | 'not-back'
  | 'not-stopped';

/** One thing that is not as promised. */
export interface Finding {
  readonly kind: FindingKind;
  /** What is wrong, in a sentence with its figures. */
  readonly text: string;
  /** The delivery that it is about, whose story is told. */
  readonly deliveryId?: string;
}
