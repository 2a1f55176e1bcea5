import { ERROR } from './protocol/errors.js';

/** What an error code of a produced partition means for its records. */
export type Verdict = 'written' | 'again' | 'refused-together' | 'refused';

const AGAIN = new Set<number>([
  ERROR.UNKNOWN_TOPIC_OR_PARTITION,
  ERROR.LEADER_NOT_AVAILABLE,
  ERROR.NOT_LEADER_OR_FOLLOWER,
  ERROR.REQUEST_TIMED_OUT,
  ERROR.REPLICA_NOT_AVAILABLE,
  ERROR.NETWORK_EXCEPTION,
  ERROR.NOT_ENOUGH_REPLICAS,
  ERROR.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
  ERROR.KAFKA_STORAGE_ERROR,
  ERROR.FENCED_LEADER_EPOCH,
  ERROR.UNKNOWN_LEADER_EPOCH,
]);

/** One record of the batch may be the reason: its neighbours are tried without it. */
const TOGETHER = new Set<number>([
  ERROR.CORRUPT_MESSAGE,
  ERROR.MESSAGE_TOO_LARGE,
  ERROR.RECORD_LIST_TOO_LARGE,
  ERROR.INVALID_TIMESTAMP,
  ERROR.INVALID_RECORD,
]);

export function verdictOf(errorCode: number): Verdict {
  if (errorCode === ERROR.NONE) return 'written';
  if (AGAIN.has(errorCode)) return 'again';
  return TOGETHER.has(errorCode) ? 'refused-together' : 'refused';
}
