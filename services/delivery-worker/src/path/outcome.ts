import type { AttemptEntry } from '@webhooks/contracts';
import type { SendResult, Throttled, Withdrawn } from '@webhooks/outbound';

/** What an attempt came to. An endpoint's failure is a value; only our own failure is thrown. */
export type AttemptOutcome =
  | { readonly kind: 'accepted'; readonly status: number; readonly durationMs: number }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly retryAfter?: string;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'unreachable';
      readonly error: string;
      readonly code: string;
      readonly durationMs: number;
    }
  | { readonly kind: 'forbidden'; readonly error: string; readonly durationMs: number };

/** The status, or the class of error. */
export const failureOf = (outcome: AttemptOutcome): string =>
  'status' in outcome ? String(outcome.status) : outcome.error;

/** What a record of the attempt tells of its end, besides when and how long. */
export const failureFields = (outcome: AttemptOutcome): Pick<AttemptEntry, 'status' | 'error' | 'code'> => {
  if ('status' in outcome) return { status: outcome.status };
  return { error: outcome.error, ...('code' in outcome ? { code: outcome.code } : {}) };
};

/** `2xx` to `5xx`, or the class of error: bounded, for labels and for operators. */
export const classOf = (outcome: AttemptOutcome): string =>
  'status' in outcome ? `${Math.floor(outcome.status / 100)}xx` : outcome.error;

export function toOutcome(result: Exclude<SendResult, Withdrawn | Throttled>): AttemptOutcome {
  const { durationMs } = result;
  if (result.kind === 'unreachable')
    return { kind: 'unreachable', error: result.error, code: result.code, durationMs };
  if (result.kind === 'forbidden') return { kind: 'forbidden', error: result.error, durationMs };
  const { status, retryAfter } = result;
  if (status >= 200 && status < 300) return { kind: 'accepted', status, durationMs };
  return { kind: 'refused', status, durationMs, ...(retryAfter === undefined ? {} : { retryAfter }) };
}
