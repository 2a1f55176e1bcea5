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

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
