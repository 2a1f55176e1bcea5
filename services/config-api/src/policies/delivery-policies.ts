import { X509Certificate } from 'node:crypto';
import { openPolicySecrets, sealPolicySecrets, normalizeHeaderName } from '@webhooks/contracts';
import type { DeliveryPolicy, Keyring, NotificationKind, PolicySecrets } from '@webhooks/contracts';
import { AppError, invalidRequest } from '@webhooks/http-api';
import type { PolicyInput } from './policy-input.js';
import { idOf } from '../webhooks/configuration.js';
import type { Configuration } from '../webhooks/configuration.js';

/** The schema of `bacen` requires a payment, which events of other types lack. */
const BACEN_TYPES: readonly NotificationKind[] = ['PIX_DYNAMIC_PAID', 'PIX_STATIC'];

/** Throws 422 about `property` when the format of the policy does not fit the event type. */
export function requireFormat(
  { eventType, policy }: Pick<Configuration, 'eventType' | 'policy'>,
  property: 'format' | 'eventType',
): void {
  if (policy.format !== 'bacen' || BACEN_TYPES.includes(eventType)) return;
  const reason = `does not fit: the format bacen of the delivery policy is for ${BACEN_TYPES.join(' and ')} only`;
  throw invalidRequest([{ property, reason }]);
}

/** Most headers of a policy. The limit bounds the bytes of each attempt and the memory of each worker. */
const MAX_HEADERS = 10;

function mergeHeaders(known: PolicySecrets['headers'], input: PolicyInput['headers']) {
  if (input === null) return {};
  const merged = new Map(
    Object.entries(known ?? {}).map((header) => [normalizeHeaderName(header[0]), header]),
  );
  for (const [name, value] of Object.entries(input ?? {}))
    if (value === null) merged.delete(normalizeHeaderName(name));
    else merged.set(normalizeHeaderName(name), [name, value]);
  if (merged.size <= MAX_HEADERS) return Object.fromEntries(merged.values());
  const reason = `must be at most ${MAX_HEADERS}, together with those already stored`;
  throw invalidRequest([{ property: 'headers', reason }]);
}

/** Merges the secret values. Fields that the input leaves out stay. */
function mergeSecrets(known: PolicySecrets, input: PolicyInput): PolicySecrets {
  const headers = mergeHeaders(known.headers, input.headers);
  const { clientCertificate = known.clientCertificate } = input;
  return {
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(clientCertificate ? { clientCertificate } : {}),
  };
}

/** Shows the last four characters of a value of sixteen or more: enough to recognise it, not enough to use it. */
const endOf = (value: string): { endsWith?: string } =>
  value.length >= 16 ? { endsWith: value.slice(-4) } : {};

function viewSecrets({ headers, clientCertificate }: PolicySecrets) {
  const certificate = clientCertificate && new X509Certificate(clientCertificate.certificate);
  const shown = Object.entries(headers ?? {}).map(([name, value]) => [name, endOf(value)] as const);
  return {
    ...(headers && { headers: Object.fromEntries(shown) }),
    ...(certificate && {
      clientCertificate: {
        // Node returns undefined for an empty subject: a certificate may have only alternative names.
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

/** Creates functions that merge, seal and show policies. They throw 500 for sealed values that no key opens. */
export function createDeliveryPolicies(keyring: Keyring) {
  const open = (configuration: Configuration): PolicySecrets => {
    try {
      return openPolicySecrets(keyring, configuration.policy.sealed, idOf(configuration));
    } catch (cause) {
      const detail =
        'no key of this service opens the headers and the client certificate; DELETE the policy, or PUT it with headers null and a clientCertificate or null';
      throw new AppError('internal-error', detail, { cause });
    }
  };
  return {
    /** Merges the input into the current policy. Throws 422 when the result does not fit the configuration. */
    replace: (current: Configuration, input: PolicyInput): DeliveryPolicy => {
      const { headers, clientCertificate, ...plain } = input;
      requireFormat({ eventType: current.eventType, policy: plain }, 'format');
      const known = headers === null && clientCertificate !== undefined ? {} : open(current);
      const next = mergeSecrets(known, input);
      if (Object.keys(next).length === 0) return plain;
      const sealed = sealPolicySecrets(keyring, next, idOf(current));
      return { ...plain, ...endOfCertificate(next), sealed };
    },
    /** Shows the policy to callers, without its secret values. */
    view: (configuration: Configuration) => {
      const { sealed, certificateNotAfter, ...plain } = configuration.policy;
      return { ...plain, ...viewSecrets(open(configuration)) };
    },
  };
}
