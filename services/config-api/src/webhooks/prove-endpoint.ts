import { randomBytes } from 'node:crypto';
import {
  causeOf,
  isEventType,
  makeTestEvent,
  openPolicySecrets,
  renderBacenCallback,
  renderNotification,
  TEST_EVENT,
} from '@webhooks/contracts';
import { createConcurrencyLimiter, invalidRequest } from '@webhooks/http-api';
import type { AppError, Identity } from '@webhooks/http-api';
import {
  checkEndpointUrl,
  createSender,
  toEndpointCertificate,
  watchClientCertificate,
} from '@webhooks/outbound';
import type { SendRequest, SendResult } from '@webhooks/outbound';
import type { ServiceScope } from '@webhooks/runtime';
import { v7 as uuidv7 } from 'uuid';
import type { ConfigApiConfig } from '../config.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import { idOf } from './configuration.js';
import type { Configuration } from './configuration.js';

/**
 * Resolves when the endpoint has passed its ownership challenge. Throws 422 with the cause, and 429 while another
 * challenge of the tenant is under way.
 */
export type ProveEndpoint = (caller: Identity, configuration: Configuration) => Promise<void>;

/** Thrown when the endpoint must pass its ownership challenge before this configuration is written. */
export class ProofNeeded extends Error {
  readonly configuration: Configuration;

  constructor(configuration: Configuration) {
    super('the endpoint has not passed its ownership challenge');
    this.configuration = configuration;
  }
}

/**
 * Returns a store that writes only configurations that need no proof: disabled ones, and those that were enabled with
 * this URL before. It throws `ProofNeeded` for all others.
 */
export function withoutProof(store: ConfigurationStore): ConfigurationStore {
  const checked = (after: Configuration, before?: Configuration): Configuration => {
    const isProven = before?.enabled === true && before.normalizedUrl === after.normalizedUrl;
    if (after.enabled && !isProven) throw new ProofNeeded(after);
    return after;
  };
  return {
    ...store,
    insert: async (after) => store.insert(checked(after)),
    replace: async (before, after) => store.replace(before, checked(after, before)),
  };
}

/**
 * With the 2 s for Kafka, a caller gets a response within 6 s. The connect timeout is shorter, so that the error
 * distinguishes a firewall from a slow endpoint.
 */
const LIMITS = { attemptTimeoutMs: 2_500, connectTimeoutMs: 2_000 };
const CHALLENGE = 'webhook-challenge';

const failed = (reason: string): AppError =>
  invalidRequest([{ property: 'endpointUrl', reason: `failed its proof: ${reason}` }], 'proof-failed');

/** Makes the request with a test notification, by the delivery policy of the configuration. */
function requestTo(
  configuration: Configuration,
  { sending, urlPolicy, keyring }: ConfigApiConfig,
  value: string,
): SendRequest {
  const { tenantId, eventType, policy } = configuration;
  const target = checkEndpointUrl(configuration.endpointUrl, urlPolicy);
  if (!target.ok) throw failed(target.reason);
  const own = openPolicySecrets(keyring, policy.sealed, idOf(configuration));
  const now = new Date();
  const id = TEST_EVENT + uuidv7();
  const headers = {
    ...own.headers,
    'content-type': 'application/json',
    'user-agent': sending.userAgent,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-attempt': '1',
    [CHALLENGE]: value,
  };
  const body = isEventType(eventType)
    ? renderNotification(makeTestEvent({ tenantId, eventType }, id, now))
    : Buffer.from(JSON.stringify({ id, type: 'endpoint.test', occurredAt: now.toISOString(), data: {} }));
  return {
    tenantId,
    target,
    headers: Object.entries(headers).flat(),
    body: policy.format === 'bacen' ? renderBacenCallback(body) : body,
    keptHeader: CHALLENGE,
    clientCertificate: own.clientCertificate && toEndpointCertificate(own.clientCertificate),
  };
}

const hasStatus = (result: SendResult, hundreds: number): boolean =>
  result.kind === 'responded' && Math.floor(result.status / 100) === hundreds;

/** Describes the result of an attempt in the words of the delivery log. */
function describe(result: SendResult): string {
  if (result.kind === 'withdrawn' || result.kind === 'throttled') return result.kind;
  const words = 'status' in result ? ['status', result.status] : new Set([result.error, result.code]);
  return `${[...words].join(' ')}. ${causeOf(result) ?? ''}`.trim();
}

/** Throws unless the result is a refusal: a closed connection, or a 4xx other than 429. A timeout is no refusal. */
function checkRefused(result: SendResult): void {
  if (hasStatus(result, 2)) throw failed('it accepts a request without our client certificate: demand one.');
  const isRefused =
    'status' in result
      ? hasStatus(result, 4) && result.status !== 429
      : 'error' in result && (/^(?:TLS|SOCKET)$/.test(result.error) || result.code === 'ECONNRESET');
  if (!isRefused) throw failed(`without our client certificate: ${describe(result)}`);
}

function checkValue(result: SendResult, value: string): void {
  if (!('kept' in result) || result.kept !== value)
    throw failed('the response has another Webhook-Challenge, or none: copy the header from the request.');
}

/** Opens the function that challenges endpoints. Undefined when `REGISTRATION_PROOF` is `none`. */
export function openProver(config: ConfigApiConfig, scope: ServiceScope): ProveEndpoint | undefined {
  if (config.proof === 'none') return undefined;
  const { clientCertificate, ...bare } = config.sending;
  const sender = createSender({ ...config.sending, ...LIMITS });
  scope.onClose('proofs', () => sender.close());
  const bareSender = createSender({ ...bare, ...LIMITS });
  scope.onClose('proofs without a certificate', () => bareSender.close());
  if (clientCertificate !== undefined) watchClientCertificate(clientCertificate, sender, scope);
  // The other half of the open requests is reserved for requests without a challenge.
  const open = createConcurrencyLimiter({ total: Math.ceil(config.api.maxOpenRequests / 2), perTenant: 1 });
  return (caller, configuration) =>
    open.run(caller, async () => {
      const value = randomBytes(24).toString('base64url');
      const request = requestTo(configuration, config, value);
      const bareRequest = { ...request, clientCertificate: undefined };
      const without = config.proof === 'mtls' ? bareSender.post(bareRequest) : undefined;
      const [result, refused] = await Promise.all([sender.post(request), without]);
      if (!hasStatus(result, 2)) throw failed(describe(result));
      if (refused === undefined) checkValue(result, value);
      else checkRefused(refused);
    });
}
