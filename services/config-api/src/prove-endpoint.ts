import { randomBytes } from 'node:crypto';
import { TEST_EVENT, causeOf, makeTestEvent, renderNotification } from '@webhooks/contracts';
import { AppError, invalidRequest } from '@webhooks/http-api';
import { checkEndpointUrl, createSender, watchClientCertificate } from '@webhooks/outbound';
import type { SendRequest, SendResult, Sender, SenderSettings } from '@webhooks/outbound';
import type { ServiceScope } from '@webhooks/runtime';
import { v7 as uuidv7 } from 'uuid';
import type { ConfigApiConfig } from './config.js';
import type { ConfigurationStore } from './configuration-store.js';
import type { Configuration, Route } from './configuration.js';
import { createTurns } from './take-turns.js';

/** Resolves when the endpoint has proven itself. Throws 422 with the cause, and 429 while another one of the tenant is under way. */
export type ProveEndpoint = (tenantId: string, route: Route) => Promise<void>;

/** What would be written has to prove its endpoint first. */
export class ProofNeeded extends Error {}

const isProven = (before: Configuration | undefined, after: Configuration): boolean =>
  !after.enabled || (before?.enabled === true && before.normalizedUrl === after.normalizedUrl);

/** Writes what needs no proof: what stays disabled, and what was enabled with this URL before. Throws `ProofNeeded` for the rest. */
export function withoutProof(store: ConfigurationStore): ConfigurationStore {
  const check = (before: Configuration | undefined, after: Configuration): void => {
    if (!isProven(before, after)) throw new ProofNeeded('the endpoint has not proven itself');
  };
  return {
    ...store,
    insert: async (after) => {
      check(undefined, after);
      return store.insert(after);
    },
    replace: async (before, after) => {
      check(before, after);
      return store.replace(before, after);
    },
  };
}

/** With the 2 s that Kafka gets for the publication, a caller has an answer within 5 s. */
const PROOF_MS = 2_500;
const CHALLENGE = 'webhook-challenge';

const tooMany = (cause: unknown): AppError =>
  new AppError('too-many-requests', 'another endpoint of this tenant proves itself; send this again', {
    headers: { 'retry-after': '1' },
    cause,
  });

const failed = (reason: string): AppError =>
  invalidRequest([{ property: 'endpointUrl', reason: `failed its proof: ${reason}` }], 'proof-failed');

/** A test notification to this endpoint, of whose event nobody has heard. */
function requestTo(
  tenantId: string,
  { eventType, endpointUrl }: Route,
  { sending, urlPolicy }: ConfigApiConfig,
  value: string,
): SendRequest {
  const target = checkEndpointUrl(endpointUrl, urlPolicy);
  if (!target.ok) throw failed(target.reason);
  const now = new Date();
  const event = makeTestEvent({ tenantId, eventType }, TEST_EVENT + uuidv7(), now);
  const headers = {
    'content-type': 'application/json',
    'user-agent': sending.userAgent,
    'webhook-id': event.id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-attempt': '1',
    [CHALLENGE]: value,
  };
  const body = renderNotification(event);
  return { tenantId, target, headers: Object.entries(headers).flat(), body, keptHeader: CHALLENGE };
}

const isAnswered = (result: SendResult, hundreds: number): boolean =>
  result.kind === 'answered' && Math.floor(result.status / 100) === hundreds;

/** What an attempt came to, as the delivery log would tell it. */
function describe(result: SendResult): string {
  if (result.kind === 'withdrawn') return result.kind;
  const words = 'status' in result ? ['status', result.status] : new Set([result.error, result.code]);
  return `${[...words].join(' ')}. ${causeOf(result) ?? ''}`.trim();
}

/** A 4xx (nginx says 400), or an end of the connection, is a refusal. Silence is none. */
function checkRefused(result: SendResult): void {
  if (isAnswered(result, 2)) throw failed('it accepts a request without our client certificate: demand one.');
  const isSilent = 'error' in result && /^(?:DNS|ADDRESS_DENIED|.*TIMEOUT)$/.test(result.error);
  if (isSilent || ('status' in result && !isAnswered(result, 4)))
    throw failed(`without our client certificate: ${describe(result)}`);
}

function checkValue(result: SendResult, value: string): void {
  if (!('kept' in result) || result.kept !== value)
    throw failed('the response has another Webhook-Challenge, or none: copy the header from the request.');
}

/** What `REGISTRATION_PROOF` demands; undefined when that is nothing. */
export function openProver(config: ConfigApiConfig, scope: ServiceScope): ProveEndpoint | undefined {
  if (config.proof === 'none') return undefined;
  const { clientCertificate, ...bare } = config.sending;
  const open = (options: SenderSettings): Sender => {
    const sender = createSender({ ...options, attemptTimeoutMs: PROOF_MS });
    scope.onClose('proofs', () => sender.close());
    return sender;
  };
  const [sender, stranger] = [open(config.sending), open(bare)];
  if (clientCertificate !== undefined) watchClientCertificate(clientCertificate, sender, scope);
  const takeTurns = createTurns(0, tooMany);
  return (tenantId, route) =>
    takeTurns(tenantId, async () => {
      const value = randomBytes(24).toString('base64url');
      const request = requestTo(tenantId, route, config, value);
      const without = config.proof === 'mtls' ? stranger.post(request) : undefined;
      const [result, refused] = await Promise.all([sender.post(request), without]);
      if (!isAnswered(result, 2)) throw failed(describe(result));
      if (refused === undefined) checkValue(result, value);
      else checkRefused(refused);
    });
}
