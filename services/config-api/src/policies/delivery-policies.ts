import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { openPolicySecrets, sealPolicySecrets, toComparedName } from '@webhooks/contracts';
import type { DeliveryPolicy, EventType, Keyring, PolicySecrets } from '@webhooks/contracts';
import { AppError, invalidRequest } from '@webhooks/http-api';
import type { PolicyInput } from './policy-input.js';
import { idOf } from '../store/database.js';
import type { Configuration } from '../webhooks/configuration.js';

/** The schema of `bacen` demands a payment, which the events of the other types lack. */
const BACEN_TYPES: readonly EventType[] = ['PIX_DYNAMIC_PAID', 'PIX_STATIC'];

/** Throws 422 about the member that a request would change when a configuration has no such body to send. */
export function requireFormat(
  { eventType, policy }: Pick<Configuration, 'eventType' | 'policy'>,
  property: 'format' | 'eventType',
): void {
  if (policy.format !== 'bacen' || BACEN_TYPES.includes(eventType)) return;
  const reason = `does not fit: the format bacen of the delivery policy is for ${BACEN_TYPES.join(' and ')} only`;
  throw invalidRequest([{ property, reason }]);
}

/** Bounds what each attempt sends, and what each worker holds. */
const MAX_HEADERS = 10;

function mergeHeaders(known: PolicySecrets['headers'], given: PolicyInput['headers']) {
  if (given === null) return {};
  const merged = new Map(Object.entries(known ?? {}).map((header) => [toComparedName(header[0]), header]));
  for (const [name, value] of Object.entries(given ?? {}))
    if (value === null) merged.delete(toComparedName(name));
    else merged.set(toComparedName(name), [name, value]);
  if (merged.size <= MAX_HEADERS) return Object.fromEntries(merged.values());
  const reason = `must be at most ${MAX_HEADERS}, with those that are there`;
  throw invalidRequest([{ property: 'headers', reason }]);
}

/** What is left out stays. */
function mergeSecrets(known: PolicySecrets, input: PolicyInput): PolicySecrets {
  const headers = mergeHeaders(known.headers, input.headers);
  const { clientCertificate = known.clientCertificate } = input;
  return {
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(clientCertificate ? { clientCertificate } : {}),
  };
}

/** Four of sixteen characters tell the owner which key it is, and leave the rest to be guessed. */
const endOf = (value: string): { endsWith?: string } =>
  value.length >= 16 ? { endsWith: value.slice(-4) } : {};

function viewSecrets({ headers, clientCertificate }: PolicySecrets) {
  const certificate = clientCertificate && new X509Certificate(clientCertificate.certificate);
  const shown = Object.entries(headers ?? {}).map(([name, value]) => [name, endOf(value)] as const);
  return {
    ...(headers && { headers: Object.fromEntries(shown) }),
    ...(certificate && {
      clientCertificate: {
        // Undefined when it is empty: a certificate may have alternative names alone.
        subject: ((certificate.subject as string | undefined) ?? '').replaceAll('\n', ', '),
        serial: certificate.serialNumber,
        notAfter: certificate.validToDate.toISOString(),
      },
    }),
  };
}

const endOfCertificate = ({ clientCertificate: pair }: PolicySecrets) =>
  pair && { certificateNotAfter: new X509Certificate(pair.certificate).validToDate.toISOString() };

export type DeliveryPolicies = ReturnType<typeof createDeliveryPolicies>;

/** Merges, seals and shows. Throws 500 for sealed values that no key opens. */
export function createDeliveryPolicies(keyring: Keyring) {
  const open = (configuration: Configuration): PolicySecrets => {
    try {
      return openPolicySecrets(keyring, configuration.policy.sealed, idOf(configuration));
    } catch (cause) {
      const detail =
        'no key of this service opens the headers and the client certificate; DELETE, or PUT with headers null and a clientCertificate or null';
      throw new AppError('internal-error', detail, { cause });
    }
  };
  return {
    /** The policy in place of the one that is there. Throws 422 when it does not fit the configuration. */
    replace: (current: Configuration, input: PolicyInput): DeliveryPolicy => {
      const { headers, clientCertificate, ...plain } = input;
      requireFormat({ eventType: current.eventType, policy: plain }, 'format');
      const known = headers === null && clientCertificate !== undefined ? {} : open(current);
      const next = mergeSecrets(known, input);
      if (Object.keys(next).length === 0) return plain;
      // Sealed again, it would look like a change to whoever compares fingerprints.
      const kept = isDeepStrictEqual(next, known) ? current.policy.sealed : undefined;
      const sealed = kept ?? sealPolicySecrets(keyring, next, idOf(current));
      return { ...plain, ...endOfCertificate(next), sealed };
    },
    /** What callers see: no sealed value. */
    view: (configuration: Configuration) => {
      const { sealed, certificateNotAfter, ...plain } = configuration.policy;
      return { ...plain, ...viewSecrets(open(configuration)) };
    },
  };
}
