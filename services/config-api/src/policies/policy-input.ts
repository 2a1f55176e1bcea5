import {
  LONGEST_TIMEOUT_MS,
  MAX_VIOLATIONS,
  NOTIFICATION_FORMATS,
  compileCheck,
  parseDuration,
  normalizeHeaderName,
} from '@webhooks/contracts';
import type { Check, DeliveryPolicy, PolicySecrets, Violation } from '@webhooks/contracts';
import { invalidRequest, readJson } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { checkClientCertificate } from '@webhooks/outbound';
import type { ConfigApiConfig } from '../config.js';

/** The body of PUT. Absent headers and an absent certificate stay; null removes them. */
export interface PolicyInput extends Omit<DeliveryPolicy, 'sealed' | 'certificateNotAfter'> {
  readonly headers?: Readonly<Record<string, string | null>> | null;
  readonly clientCertificate?: PolicySecrets['clientCertificate'] | null;
}

type PolicyRules = ConfigApiConfig['policyRules'];

/** A chain of four certificates and an RSA key of 4,096 bits have about 11 KiB. */
const MAX_PEM_BYTES = 16_384;
/**
 * An RSA key of 4,096 bits has 3,272 characters. One of 16,384 bits would cost a worker 0.25 s for each handshake.
 */
const MAX_KEY_CHARACTERS = 4_096;
/** The longest delay of the default schedule. */
const MAX_DELAY_MS = 86_400_000;

const pem = { type: 'string', minLength: 1, maxLength: MAX_PEM_BYTES } as const;

const schemaOf = ({ endpointConcurrency }: PolicyRules) => ({
  type: 'object',
  additionalProperties: false,
  properties: {
    timeoutMs: { type: 'integer', minimum: 1_000, maximum: LONGEST_TIMEOUT_MS },
    maxConcurrency: { type: 'integer', minimum: 1, maximum: endpointConcurrency },
    format: { type: 'string', enum: NOTIFICATION_FORMATS },
    retryDelays: {
      ...{ type: 'array', minItems: 1, maxItems: 20 },
      items: {
        ...{ type: 'string', pattern: '^[0-9]{1,9}(ms|s|m|h|d)$' },
        description: 'must be a delay such as 30s, 5m or 1h',
      },
    },
    headers: {
      // Ten headers to remove and ten to add.
      ...{ type: ['object', 'null'], maxProperties: 20 },
      additionalProperties: {
        ...{ type: ['string', 'null'], maxLength: 1_024, pattern: '^[!-~]([ -~]*[!-~])?$' },
        description: 'must be 1 to 1024 printable ASCII characters, the first and the last no space',
      },
    },
    clientCertificate: {
      ...{ type: ['object', 'null'], additionalProperties: false, required: ['certificate', 'key'] },
      properties: { certificate: pem, key: { ...pem, maxLength: MAX_KEY_CHARACTERS } },
    },
  },
});

/** A header's name (RFC 9110 §5.6.2), with at most 64 characters. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** Headers that the sender or the HTTP client sets. */
const RESERVED =
  /^(host|content-.*|connection|transfer-encoding|te|upgrade|expect|cookie|traceparent|proxy-.*|keep-alive|trailer|user-agent|webhook-.*)$/;

function headerFaults({ headers }: PolicyInput, { vendorHeader }: PolicyRules): readonly Violation[] {
  const names = Object.keys(headers ?? {});
  const lower = names.map(normalizeHeaderName);
  return names.flatMap((name, index) => {
    // The error does not repeat the name, because it may be a secret value in the wrong place.
    if (!TOKEN.test(name))
      return [{ property: 'headers', reason: 'must have names of 1 to 64 token characters' }];
    const own = lower[index] ?? '';
    if (RESERVED.test(own) || own === normalizeHeaderName(vendorHeader))
      return [{ property: `headers.${name}`, reason: 'is reserved: every delivery sets this header' }];
    if (lower.indexOf(own) < index) return [{ property: `headers.${name}`, reason: 'appears twice' }];
    return [];
  });
}

function delayFaults({ retryDelays = [] }: PolicyInput): readonly Violation[] {
  const delays = retryDelays.map(parseDuration);
  const sum = delays.reduce((all, ms) => all + ms, 0);
  // Seven days: one day less than the default `DELIVERY_MAX_AGE`.
  if (delays.every((ms) => ms >= 1_000 && ms <= MAX_DELAY_MS) && sum <= 7 * MAX_DELAY_MS) return [];
  return [{ property: 'retryDelays', reason: 'must be from 1s to 24h each, and at most 7 days in sum' }];
}

function certificateFaults({ clientCertificate }: PolicyInput): readonly Violation[] {
  if (!clientCertificate) return [];
  const fault = (reason: string) => [{ property: 'clientCertificate', reason }];
  const { certificate, key } = clientCertificate;
  if (Buffer.byteLength(certificate) + Buffer.byteLength(key) > MAX_PEM_BYTES)
    return fault(`must be at most ${MAX_PEM_BYTES} bytes with its key`);
  try {
    checkClientCertificate(clientCertificate);
    return [];
  } catch (error) {
    return fault(`is refused: ${error instanceof Error ? error.message : 'it cannot be read'}`);
  }
}

/** The start of DER as JSON text: a sequence, with an integer near its start. It contains a NUL, which is refused. */
const DER = /"(?:certificate|key)"\s*:\s*"0[^"]{1,12}\\u000[02]/;

/** Reads the body. For DER the error says that PEM is expected. */
function readPolicy(request: ApiRequest, check: Check<PolicyInput>): PolicyInput {
  try {
    return readJson(request, check);
  } catch (error) {
    if (!DER.test(request.body.toString())) throw error;
    const reason = 'contains DER: convert the certificate and the key to PEM';
    throw invalidRequest([{ property: 'clientCertificate', reason }]);
  }
}

/** Creates a function that reads the body of PUT. It throws 422 with the faults, and repeats no value. */
export function createPolicyReader(rules: PolicyRules): (request: ApiRequest) => PolicyInput {
  const check = compileCheck<PolicyInput>(schemaOf(rules));
  return (request) => {
    const input = readPolicy(request, check);
    const faults = [...headerFaults(input, rules), ...delayFaults(input), ...certificateFaults(input)];
    if (faults.length > 0) throw invalidRequest(faults.slice(0, MAX_VIOLATIONS));
    return input;
  };
}
