export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/**
 * What is read of any error, to be spread into log fields: `error` is its message (of the name `message` the log joins two), `type` Kafka's
 * name of a protocol error, such as `REBALANCE_IN_PROGRESS`.
 */
export function faultOf(error: unknown) {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, error: message, type: typeOf(error) };
}

/** Its own, or that of its cause. */
function typeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'type' in error && typeof error.type === 'string' ? error.type : typeOf(error.cause);
}

/** A group's records have another format than this service reads and writes. */
export class OtherRecordFormat extends Error {
  readonly type = 'OTHER_RECORD_FORMAT';
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
  'INVALID_CONFIG',
  'OTHER_RECORD_FORMAT',
]);

/** Trying again cannot help: an operator must change something. */
export function isFatal(error: unknown): boolean {
  const fault = faultOf(error);
  return FATAL_TYPES.has(fault.type ?? '') || fault.name === 'KafkaJSSASLAuthenticationError';
}
