import { LONGEST_TIMEOUT_MS, openPolicySecrets } from '@webhooks/contracts';
import type { DeliveryPolicy, Keyring, PolicySecrets } from '@webhooks/contracts';
import { toEndpointCertificate } from '@webhooks/outbound';
import type { EndpointCertificate } from '@webhooks/outbound';
import { parseDelays } from '../path/schedule.js';

/** An endpoint's delivery policy, ready to be applied; what is undefined has the worker's default. */
export interface EndpointTerms extends Pick<
  DeliveryPolicy,
  'format' | 'maxConcurrency' | 'certificateNotAfter'
> {
  readonly timeoutMs: number | undefined;
  readonly delaysMs: readonly number[] | undefined;
  readonly headers: PolicySecrets['headers'];
  readonly clientCertificate: EndpointCertificate | undefined;
}

/** Throws when no key opens what is sealed, a delay is spelled as nobody here knows, or a certificate is none. `key`: that of the configuration. */
export function openTerms(policy: DeliveryPolicy, keyring: Keyring, key: string): EndpointTerms {
  const { timeoutMs, retryDelays, sealed, ...asTheyAre } = policy;
  const { headers, clientCertificate: pair } = openPolicySecrets(keyring, sealed, key);
  return {
    ...asTheyAre,
    timeoutMs: timeoutMs === undefined ? undefined : Math.min(timeoutMs, LONGEST_TIMEOUT_MS),
    delaysMs: retryDelays === undefined ? undefined : parseDelays(retryDelays.join(',')),
    headers,
    clientCertificate: pair && toEndpointCertificate(pair),
  };
}
