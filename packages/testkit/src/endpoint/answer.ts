import type { Arrival } from './arrival.js';

/** What the endpoint does with one request. Everything but `status` is a misbehaviour that a sender must survive. */
export type Answer =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Record<string, string | string[]>;
      readonly body?: string | Buffer;
      readonly delayMs?: number;
    }
  /** Never answers; the connection stays open. */
  | { readonly kind: 'hang' }
  /** Headers at once, then one byte of body every `everyMs`, without an end. */
  | { readonly kind: 'drip-body'; readonly status?: number; readonly everyMs: number }
  /** The header block, one byte every `everyMs`, without an end. */
  | { readonly kind: 'drip-headers'; readonly everyMs: number }
  /** A body as fast as it is read, without an end. `bytesSent` of the endpoint's stats counts them. */
  | { readonly kind: 'endless-body' }
  /** Header lines as fast as they are read, without an end. */
  | { readonly kind: 'endless-headers' }
  /** `count` informational answers (default: without an end), then a 200. */
  | { readonly kind: 'informational'; readonly status?: number; readonly count?: number }
  /** Exactly these bytes on the connection, then nothing (`keep`), a FIN (`end`) or a RST (`reset`). */
  | { readonly kind: 'raw'; readonly bytes: string | Buffer; readonly then?: 'keep' | 'end' | 'reset' }
  /** Breaks the connection at a stage, by RST (default) or by FIN. */
  | { readonly kind: 'cut'; readonly stage: CutStage; readonly how?: 'reset' | 'end' };

export type CutStage = 'before-answer' | 'in-headers' | 'in-body';

/** A status alone is enough for an ordinary answer. The function gets the arrival and how often its id came (from 1). */
export type Script =
  number | Answer | ((arrival: Arrival, nthForThisId: number) => number | Answer | Promise<number | Answer>);

export function toAnswer(answer: number | Answer): Answer {
  return typeof answer === 'number' ? { kind: 'status', status: answer } : answer;
}

/** The status that an answer is going to show, 0 when there is no ordinary one. */
export function plannedStatus(answer: Answer): number {
  return answer.kind === 'status' ? answer.status : 0;
}
