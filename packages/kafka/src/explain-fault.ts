import { asError, faultOf } from './faults.js';
import type { KafkaOptions } from './kafkajs/connections.js';

interface Way extends Pick<KafkaOptions, 'brokers' | 'tls' | 'sasl'> {
  readonly replicationFactor?: number | undefined;
}

const UNREACHABLE =
  /ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EAI_AGAIN|timeout|no response|took longer/i;

/** Faults of settings: what the connection or the broker reports, and the sentence with the fix. */
const SENTENCES: readonly (readonly [pattern: RegExp, sentence: string | ((way: Way) => string)])[] = [
  [
    /KAFKA_SASL_TOKEN_ENDPOINT/,
    'check KAFKA_SASL_TOKEN_ENDPOINT, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD',
  ],
  [/mechanism is not supported|UNSUPPORTED_SASL_MECHANISM/, 'the broker offers no such KAFKA_SASL_MECHANISM'],
  [
    /KafkaJSSASLAuthenticationError|SASL_AUTHENTICATION_FAILED/,
    'the broker refuses KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD for this KAFKA_SASL_MECHANISM',
  ],
  [
    /alert number (?:4[2568]|116)|certificate required|bad certificate/i,
    'the broker requires a client certificate that it trusts: KAFKA_TLS_CERT_FILE, KAFKA_TLS_KEY_FILE',
  ],
  [
    /self-signed|unable to (?:verify|get)|UNABLE_TO|SELF_SIGNED/i,
    'the certificate of the broker is not of a trusted authority: KAFKA_TLS_CA_FILE',
  ],
  [/certificate has expired/i, 'the certificate of the broker has expired'],
  [/altname|does not match/i, 'the certificate of the broker has another name than KAFKA_BROKERS'],
  [
    /wrong version number|before secure TLS connection|packet length too long|record layer/i,
    'the broker speaks no TLS at this port: KAFKA_TLS=false, or another port',
  ],
  [UNREACHABLE, ({ brokers }) => `nothing responds at KAFKA_BROKERS=${brokers.join(',')}`],
  [/closed|disconnected|ECONNRESET|ILLEGAL_SASL_STATE/i, closedSentence],
  [
    /INVALID_REPLICATION_FACTOR/,
    ({ replicationFactor }) => `there are fewer brokers than TOPICS_REPLICATION_FACTOR=${replicationFactor}`,
  ],
  [
    /TOPIC_AUTHORIZATION_FAILED/,
    'missing right: Create on the topics; grant it, or create them and set TOPICS_CREATE=false',
  ],
];

function closedSentence({ tls, sasl }: Way): string {
  const unused = [tls ? [] : 'TLS (KAFKA_TLS=true)', sasl ? [] : 'SASL (KAFKA_SASL_MECHANISM)'].flat();
  const required = unused.length === 0 ? '' : `: it may require ${unused.join(' or ')}`;
  return `the broker closes the connection${required}`;
}

/** The error and its causes, as one text. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  // kafkajs' error of several topics.
  const parts: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const inner = [error.cause, ...parts].map(textOf).join('');
  return `${error.name} ${faultOf(error).type ?? ''} ${error.message}\n${inner}`;
}

/** Whether no broker responds. */
export const isUnreachable = (error: unknown): boolean => UNREACHABLE.test(textOf(error));

/** Returns a sentence that names the settings to change, followed by the error itself; or the error alone. */
export function explainFault(error: unknown, way: Way): string {
  const text = textOf(error);
  const [, sentence] = SENTENCES.find(([pattern]) => pattern.test(text)) ?? [];
  const message = asError(error).message.replaceAll(/\s+/g, ' ').trim();
  if (sentence === undefined) return message;
  return `${typeof sentence === 'string' ? sentence : sentence(way)} (${message})`;
}
