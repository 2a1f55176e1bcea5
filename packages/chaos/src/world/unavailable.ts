import { ConnectionError, ProblemError } from '@webhooks/client';
import { mayClockBeWrong } from '../whims/clock.js';

/** Names, and then types, of kafkajs' errors that say that the broker, a coordinator or a leader is away, or has just come up. */
const AWAY: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
]);
const AWAY_TYPES: ReadonlySet<unknown> = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
]);

/** The same, where kafkajs has made an error anew and kept nothing but the text. */
const COORDINATOR_AWAY_TEXT =
  /^(?:This is not the correct coordinator for this group|The group coordinator is not available|The coordinator is loading)/;

/**
 * Whether a service that is down, or has lost its database or broker, answers like this: with nothing, with 503, or with the
 * 500 that names what is unavailable.
 */
export const isServiceAway = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ProblemError &&
    (error.problem.status === 503 || error.problem.code.endsWith('unavailable')));

/** Whether a valid token was refused: so does a service whose clock is wrong by more than the life of a token. */
const isTokenRefused = (error: unknown): boolean =>
  error instanceof ProblemError && error.problem.code === 'invalid-token';

/** Whether a service answers like this that is away, or whose clock may be wrong by the clocks of this run. */
export const isAwayOrOfWrongTime =
  (clocksDir: string) =>
  (error: unknown): boolean =>
    isServiceAway(error) || (isTokenRefused(error) && mayClockBeWrong(clocksDir));

/** Whether the broker is down, or has just come up. */
export function isBrokerAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (AWAY.has(error.name)) return true;
  if ('type' in error && AWAY_TYPES.has(error.type)) return true;
  if (COORDINATOR_AWAY_TEXT.test(error.message)) return true;
  // `KafkaJSNumberOfRetriesExceeded` and what a consumer crashes with hold what it was.
  return error.cause !== undefined && error.cause !== error && isBrokerAway(error.cause);
}

/** kafkajs, where a group that is to be reset has members, killed ones included. */
export const isGroupNotEmpty = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('must have no running instances');
