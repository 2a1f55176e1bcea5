import { RecordRefused } from '@webhooks/kafka';

/** What the language itself throws: a fault of our code. */
const FAULTS_OF_CODE = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'URIError']);
/** Why Kafka refuses a record for what it is. Other reasons (no such topic, not authorised) are for operators to mend. */
const FAULTS_OF_RECORD = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Whether the same record will meet this fault at the next try, too. A fault of what surrounds us (Kafka away, a stale
 * cache, a stop) is none of the record's, however long it lasts.
 */
export const isLastingFault = (error: unknown): error is Error =>
  error instanceof RecordRefused
    ? FAULTS_OF_RECORD.has(error.reason)
    : error instanceof Error && FAULTS_OF_CODE.has(error.name);
