import type { Keyring } from '@webhooks/contracts';
import { AppError, refOf } from '@webhooks/http-api';
import type { ApiRequest, Operation } from '@webhooks/http-api';
import type { Audit, AuditedRequest } from './audit.js';
import { changeOne } from './change-configuration.js';
import type { Change } from './change-configuration.js';
import type { ConfigurationName } from '../publication/configuration-cache.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import { toView } from './configuration.js';
import type { Configuration } from './configuration.js';
import type { DeliveryPolicies } from '../policies/delivery-policies.js';
import { egressOperation } from './egress.js';
import type { EgressAddress } from './egress.js';
import { LIST_PARAMETERS, listWebhooks, readListQuery } from './list-webhooks.js';
import type { PolicyInput } from '../policies/policy-input.js';
import { ProofNeeded, withoutProof } from './prove-endpoint.js';
import type { ProveEndpoint } from './prove-endpoint.js';
import type { PublishConfiguration } from '../publication/publish-configuration.js';
import { registerWebhook } from './register-webhook.js';
import type { RegisterPorts } from './register-webhook.js';
import { readRotationRequest, rotateSecret } from './rotate-secret.js';
import type { RunExclusive } from './keyed-mutex.js';
import { updateWebhook } from './update-webhook.js';
import type { UpdatePorts } from './update-webhook.js';
import type { WebhookInput } from './webhook-input.js';

export interface OperationParts {
  readonly keyring: Keyring;
  readonly readInput: (request: ApiRequest) => WebhookInput;
  /** The store, for all statements of one request. */
  readonly storeFor: () => ConfigurationStore;
  readonly runExclusive: RunExclusive;
  /** Undefined when endpoints have nothing to prove. */
  readonly prove: ProveEndpoint | undefined;
  readonly publish: PublishConfiguration;
  readonly audit: Audit;
  readonly readPolicy: (request: ApiRequest) => PolicyInput;
  readonly policies: DeliveryPolicies;
  readonly now: () => Date;
  readonly maxWebhooks: number;
  readonly egress: readonly EgressAddress[];
}

const COLLECTION = '/integration/v1/webhooks';
const ONE = `${COLLECTION}/:ref`;
const MAX_BODY_BYTES = 16_384;
/** A certificate of 16 KiB and ten headers of 1 KiB are 27 KiB, and twice that when JSON escapes every character. */
const MAX_POLICY_BYTES = 65_536;

/** The store for one change. A write that fails is audited: the database may have made it all the same. */
function auditedStore(requested: AuditedRequest, { audit, storeFor }: OperationParts): ConfigurationStore {
  const store = storeFor();
  const onFailure = (error: unknown): never => {
    if (error instanceof AppError && error.code === 'database-unavailable') audit(requested);
    throw error;
  };
  return {
    ...store,
    insert: (configuration) => store.insert(configuration).catch(onFailure),
    replace: (before, after) => store.replace(before, after).catch(onFailure),
  };
}

/**
 * Writes of one tenant take turns in this process; see `createKeyedMutex` for how long. An endpoint proves itself between two turns: it may be
 * slow, and holds nobody up.
 */
const inTurn = async <C extends Change>(
  requested: AuditedRequest,
  parts: OperationParts,
  work: (ports: OperationParts & ConfigurationStore) => Promise<C>,
): Promise<C> => {
  const { runExclusive, prove } = parts;
  const store = auditedStore(requested, parts);
  const take = (own: ConfigurationStore): Promise<C> =>
    runExclusive(requested.request.identity.tenantId, () => work({ ...parts, ...own }));
  if (prove === undefined) return take(store);
  try {
    return await take(withoutProof(store));
  } catch (error) {
    if (!(error instanceof ProofNeeded)) throw error;
    await prove(requested.request.identity, error.configuration);
    return take(store);
  }
};

/** Makes a change and makes it known: tells the audit trail, then Kafka. `published`: it is in force a second from now. */
async function make<C extends Change>(
  requested: AuditedRequest,
  parts: OperationParts,
  work: (ports: OperationParts & ConfigurationStore) => Promise<C>,
): Promise<C & { readonly published: boolean }> {
  const change = await inTurn(requested, parts, work);
  parts.audit(requested, change);
  return { ...change, published: await parts.publish(change.after) };
}

/** An extension field: the change is durable, but not in force yet. */
const unlessPublished = (published: boolean): { published?: false } =>
  published ? {} : { published: false };

type Handler = Operation['handle'];

const saved =
  (
    action: 'register' | 'update',
    save: (tenantId: string, input: WebhookInput, ports: RegisterPorts & UpdatePorts) => Promise<Change>,
    parts: OperationParts,
  ): Handler =>
  async (request) => {
    const { tenantId } = request.identity;
    const input = parts.readInput(request);
    const { before, after, published } = await make({ action, request, input }, parts, (ports) =>
      save(tenantId, input, ports),
    );
    const moved = before !== undefined && before.endpointUrl !== after.endpointUrl;
    const previous = moved ? { previousEndpointUrl: before.endpointUrl } : {};
    return { status: 200, body: { ...toView(after), ...previous, ...unlessPublished(published) } };
  };

const listed =
  ({ storeFor, runExclusive }: OperationParts): Handler =>
  async ({ identity: { tenantId }, query }) => {
    const wanted = readListQuery(query);
    const { list } = storeFor();
    // A list of 1,000 takes 50 ms of this process: one tenant's wait for each other, and hold one connection.
    const listing = () => listWebhooks(tenantId, wanted, list);
    return { status: 200, body: await runExclusive(`lists of ${tenantId}`, listing) };
  };

const nameOf = (request: ApiRequest): ConfigurationName => ({
  tenantId: request.identity.tenantId,
  ref: refOf(request),
});

const shown =
  ({ storeFor }: OperationParts, view: (configuration: Configuration) => unknown): Handler =>
  async (request) => ({ status: 200, body: view(await storeFor().get(nameOf(request))) });

/** What takes something away has no body to say that it is not in force yet: 202. */
const removed =
  (
    action: 'remove-secret' | 'remove-policy',
    taken: Partial<Configuration>,
    parts: OperationParts,
  ): Handler =>
  async (request) => {
    const { published } = await make({ action, request }, parts, (ports) =>
      changeOne(nameOf(request), () => taken, ports),
    );
    return { status: published ? 204 : 202 };
  };

const rotated =
  (parts: OperationParts): Handler =>
  async (request) => {
    const wanted = readRotationRequest(request);
    const { after, secret, published } = await make({ action: 'rotate-secret', request }, parts, (ports) =>
      rotateSecret(nameOf(request), wanted, ports),
    );
    const until = after.secrets[1]?.expiresAt?.toISOString();
    const previous = until === undefined ? {} : { previousValidUntil: until };
    return { status: 200, body: { ref: after.ref, secret, ...previous, ...unlessPublished(published) } };
  };

const replaced =
  (parts: OperationParts): Handler =>
  async (request) => {
    const { policies } = parts;
    const input = parts.readPolicy(request);
    const replace = (current: Configuration) => ({ policy: policies.replace(current, input) });
    const { after, published } = await make({ action: 'replace-policy', request }, parts, (ports) =>
      changeOne(nameOf(request), replace, ports),
    );
    return { status: 200, body: { ...policies.view(after), ...unlessPublished(published) } };
  };

const READ = ['webhook.read'] as const;
const WRITE = ['webhook.write'] as const;

/** Every operation of this service; `openapi.yaml` describes the same set. */
export function createOperations(parts: OperationParts): readonly Operation[] {
  const all = { path: COLLECTION, scopes: WRITE, maxBodyBytes: MAX_BODY_BYTES };
  const secret = { path: `${ONE}/secret`, scopes: WRITE };
  const policy = { path: `${ONE}/policy`, scopes: WRITE };
  const policyOf = (configuration: Configuration) => parts.policies.view(configuration);
  return [
    { method: 'GET', path: COLLECTION, scopes: READ, query: LIST_PARAMETERS, handle: listed(parts) },
    { method: 'POST', ...all, handle: saved('register', registerWebhook, parts) },
    { method: 'PUT', ...all, handle: saved('update', updateWebhook, parts) },
    { method: 'GET', path: ONE, scopes: READ, handle: shown(parts, toView) },
    { method: 'POST', ...secret, maxBodyBytes: MAX_BODY_BYTES, handle: rotated(parts) },
    { method: 'DELETE', ...secret, handle: removed('remove-secret', { secrets: [] }, parts) },
    egressOperation(parts.egress),
    { method: 'GET', ...policy, scopes: READ, handle: shown(parts, policyOf) },
    { method: 'PUT', ...policy, maxBodyBytes: MAX_POLICY_BYTES, handle: replaced(parts) },
    { method: 'DELETE', ...policy, handle: removed('remove-policy', { policy: {} }, parts) },
  ];
}
