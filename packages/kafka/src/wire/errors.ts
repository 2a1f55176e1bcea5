/** Kafka's error codes that we decide by (protocol guide, "Error Codes"). */
export const ERROR = {
  NONE: 0,
  OFFSET_OUT_OF_RANGE: 1,
  CORRUPT_MESSAGE: 2,
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  LEADER_NOT_AVAILABLE: 5,
  NOT_LEADER_OR_FOLLOWER: 6,
  REQUEST_TIMED_OUT: 7,
  REPLICA_NOT_AVAILABLE: 9,
  MESSAGE_TOO_LARGE: 10,
  NETWORK_EXCEPTION: 13,
  INVALID_TOPIC: 17,
  RECORD_LIST_TOO_LARGE: 18,
  NOT_ENOUGH_REPLICAS: 19,
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: 20,
  TOPIC_AUTHORIZATION_FAILED: 29,
  GROUP_AUTHORIZATION_FAILED: 30,
  CLUSTER_AUTHORIZATION_FAILED: 31,
  INVALID_TIMESTAMP: 32,
  KAFKA_STORAGE_ERROR: 56,
  FENCED_LEADER_EPOCH: 74,
  UNKNOWN_LEADER_EPOCH: 76,
  INVALID_RECORD: 87,
} as const;

const NAMES = new Map<number, string>(Object.entries(ERROR).map(([name, code]) => [code, name]));

export function errorName(code: number): string {
  return NAMES.get(code) ?? `error ${code}`;
}

/** What we read of an error thrown by kafkajs; anything else gives `{ error }`. Spread into log fields. */
export interface KafkaFault {
  readonly name: string;
  /** Its message; not named so, because the log would join that to the line's own. */
  readonly error: string;
  /** Kafka's name of a protocol error, such as `REBALANCE_IN_PROGRESS`. */
  readonly type: string | undefined;
}

export function faultOf(error: unknown): KafkaFault {
  if (!(error instanceof Error)) return { name: 'Error', error: String(error), type: undefined };
  const type = 'type' in error && typeof error.type === 'string' ? error.type : causeType(error);
  return { name: error.name, error: error.message, type };
}

function causeType(error: Error): string | undefined {
  const { cause } = error;
  if (!(cause instanceof Error)) return undefined;
  return 'type' in cause && typeof cause.type === 'string' ? cause.type : causeType(cause);
}

const FATAL_TYPES = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
  'UNSUPPORTED_VERSION',
  'INVALID_GROUP_ID',
  'INCONSISTENT_GROUP_PROTOCOL',
  'INVALID_SESSION_TIMEOUT',
]);

/** Trying again cannot help: an operator must change something. */
export function isFatal(error: unknown): boolean {
  const fault = faultOf(error);
  return FATAL_TYPES.has(fault.type ?? '') || fault.name === 'KafkaJSSASLAuthenticationError';
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
