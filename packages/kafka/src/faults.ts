/** Returns the error itself, or wraps a thrown value that is not an Error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/**
 * Log fields of an error. The field `error` is its message: a field named `message` would be appended to the line's
 * message. `type` is Kafka's name of a protocol error, such as `REBALANCE_IN_PROGRESS`.
 */
export function faultOf(error: unknown) {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, error: message, type: typeOf(error) };
}

/** Returns the type of the error, else of its cause. */
function typeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'type' in error && typeof error.type === 'string' ? error.type : typeOf(error.cause);
}

/** Kafka's types, and `OTHER_RECORD_FORMAT`: a group has committed records of another format than this service's. */
const FATAL_TYPES = new Set([
  'UNSUPPORTED_VERSION',
  'INVALID_GROUP_ID',
  'INCONSISTENT_GROUP_PROTOCOL',
  'INVALID_SESSION_TIMEOUT',
  'INVALID_CONFIG',
  'OTHER_RECORD_FORMAT',
]);

/** Makes an error for which `isFatal` is true. */
export const fatalError = (type: 'INVALID_CONFIG' | 'OTHER_RECORD_FORMAT', message: string) =>
  Object.assign(new Error(message), { type });

/**
 * Whether a retry cannot help, because this process must be changed. Refused credentials and missing rights are
 * retried: an operator changes them while the process runs.
 */
export const isFatal = (error: unknown): boolean => FATAL_TYPES.has(faultOf(error).type ?? '');
