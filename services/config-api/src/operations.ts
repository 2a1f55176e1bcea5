import { AppError, refOf } from '@webhooks/http-api';
import type { ApiReply, ApiRequest, Operation } from '@webhooks/http-api';
import type { Audit, AuditedRequest } from './audit.js';
import { changeOne } from './change-configuration.js';
import type { Change } from './change-configuration.js';
import type { ConfigurationName } from './configuration-cache.js';
import type { ConfigurationStore } from './configuration-store.js';
import { toView } from './configuration.js';
import type { Configuration } from './configuration.js';
import type { DeliveryPolicies } from './delivery-policies.js';
import { egressOperation } from './egress.js';
import type { EgressAddress } from './egress.js';
import { getWebhook } from './get-webhook.js';
import { LIST_PARAMETERS, readListQuery } from './list-query.js';
import { listWebhooks } from './list-webhooks.js';
import type { PolicyInput } from './policy-input.js';
import { ProofNeeded, withoutProof } from './prove-endpoint.js';
import type { ProveEndpoint } from './prove-endpoint.js';
import type { PublishConfiguration } from './publish-configuration.js';
import { registerWebhook } from './register-webhook.js';
import { readRotationRequest, rotateSecret } from './rotate-secret.js';
import type { SecretPorts } from './rotate-secret.js';
import type { TakeTurns } from './take-turns.js';
import { updateWebhook } from './update-webhook.js';
import type { WebhookInput } from './webhook-input.js';

export interface OperationParts extends SecretPorts {
  readonly readInput: (request: ApiRequest) => WebhookInput;
  /** The store, for all statements of one request, within so many milliseconds. */
  readonly storeFor: (ms: number) => ConfigurationStore;
  readonly takeTurns: TakeTurns;
  /** Undefined when endpoints have nothing to prove. */
  readonly prove: ProveEndpoint | undefined;
  readonly publish: PublishConfiguration;
  readonly audit: Audit;
  readonly newRef: () => string;
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
/** What the database gets of the 5 s within which a caller learns that it is not available. */
export const DATABASE_MS = 4_000;

/** The store for one change. A write that fails is audited: the database may have made it all the same. */
function auditedStore(requested: AuditedRequest, { audit, storeFor }: OperationParts): ConfigurationStore {
  const store = storeFor(DATABASE_MS);
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
 * Writes of one tenant take turns in this process; see `createTurns` for how long. An endpoint proves itself between two turns: it may be
 * slow, and holds nobody up.
 */
const inTurn = async <C extends Change>(
  requested: AuditedRequest,
  parts: OperationParts,
  work: (ports: OperationParts & ConfigurationStore) => Promise<C>,
): Promise<C> => {
  const { takeTurns, prove } = parts;
  const store = auditedStore(requested, parts);
  const take = (own: ConfigurationStore): Promise<C> =>
    takeTurns(requested.request.identity.tenantId, () => work({ ...parts, ...own }));
  if (prove === undefined) return take(store);
  try {
    return await take(withoutProof(store));
  } catch (error) {
    if (!(error instanceof ProofNeeded)) throw error;
    await prove(requested.request.identity, error.configuration);
    return take(store);
  }
};

/** Makes a change known: tells the audit trail, then Kafka. True when the change is in force a second from now. */
function tell(
  requested: AuditedRequest,
  change: Change,
  { audit, publish }: OperationParts,
): Promise<boolean> {
  audit(requested, change);
  return publish(change.after);
}

/** An extension field: the change is durable, but not in force yet. */
const unlessPublished = (published: boolean): { published?: false } =>
  published ? {} : { published: false };

type Handler = (request: ApiRequest) => Promise<ApiReply>;

const changed = async (
  requested: AuditedRequest,
  change: Change,
  parts: OperationParts,
): Promise<ApiReply> => {
  const published = await tell(requested, change, parts);
  const { before, after } = change;
  const moved = before !== undefined && before.endpointUrl !== after.endpointUrl;
  const previous = moved ? { previousEndpointUrl: before.endpointUrl } : {};
  return { status: 200, body: { ...toView(after), ...previous, ...unlessPublished(published) } };
};

function collectionHandlers(parts: OperationParts): Record<'register' | 'update' | 'list', Handler> {
  return {
    register: async (request) => {
      const input = parts.readInput(request);
      const requested = { action: 'register', request, input } as const;
      const change = await inTurn(requested, parts, (ports) =>
        registerWebhook(request.identity.tenantId, input, ports),
      );
      return changed(requested, change, parts);
    },
    update: async (request) => {
      const input = parts.readInput(request);
      const requested = { action: 'update', request, input } as const;
      const change = await inTurn(requested, parts, (ports) =>
        updateWebhook(request.identity.tenantId, input, ports),
      );
      return changed(requested, change, parts);
    },
    list: async ({ identity: { tenantId }, query }) => {
      const wanted = readListQuery(query);
      const { list } = parts.storeFor(DATABASE_MS);
      // A list of 1,000 takes 50 ms of this process: one tenant's wait for each other, and hold one connection.
      const listing = () => listWebhooks(tenantId, wanted, list);
      return { status: 200, body: await parts.takeTurns(`lists of ${tenantId}`, listing) };
    },
  };
}

const nameOf = (request: ApiRequest): ConfigurationName => ({
  tenantId: request.identity.tenantId,
  ref: refOf(request),
});

const shown =
  ({ storeFor }: OperationParts, view: (configuration: Configuration) => unknown): Handler =>
  async (request) => ({
    status: 200,
    body: view(await getWebhook(nameOf(request), storeFor(DATABASE_MS).findByRef)),
  });

/** What takes something away has no body to say that it is not in force yet: 202. */
const removed = async (
  requested: AuditedRequest,
  taken: Partial<Configuration>,
  parts: OperationParts,
): Promise<ApiReply> => {
  const change = await inTurn(requested, parts, (ports) =>
    changeOne(nameOf(requested.request), () => taken, ports),
  );
  return { status: (await tell(requested, change, parts)) ? 204 : 202 };
};

function oneHandlers(parts: OperationParts): Record<'get' | 'rotate' | 'remove', Handler> {
  return {
    get: shown(parts, toView),
    rotate: async (request) => {
      const wanted = readRotationRequest(request);
      const requested = { action: 'rotate-secret', request } as const;
      const rotation = await inTurn(requested, parts, (ports) =>
        rotateSecret(nameOf(request), wanted, ports),
      );
      const published = await tell(requested, rotation, parts);
      const until = rotation.after.secrets[1]?.expiresAt?.toISOString();
      const previous = until === undefined ? {} : { previousValidUntil: until };
      const { after, secret } = rotation;
      return { status: 200, body: { ref: after.ref, secret, ...previous, ...unlessPublished(published) } };
    },
    remove: (request) => removed({ action: 'remove-secret', request }, { secrets: [] }, parts),
  };
}

function policyHandlers(parts: OperationParts): Record<'show' | 'replace' | 'reset', Handler> {
  const { policies } = parts;
  return {
    show: shown(parts, (configuration) => policies.view(configuration)),
    replace: async (request) => {
      const input = parts.readPolicy(request);
      const requested = { action: 'replace-policy', request } as const;
      const replaced = (current: Configuration) => ({ policy: policies.replace(current, input) });
      const change = await inTurn(requested, parts, (ports) => changeOne(nameOf(request), replaced, ports));
      const published = await tell(requested, change, parts);
      return { status: 200, body: { ...policies.view(change.after), ...unlessPublished(published) } };
    },
    reset: (request) => removed({ action: 'remove-policy', request }, { policy: {} }, parts),
  };
}

const READ = ['webhook.read'] as const;
const WRITE = ['webhook.write'] as const;

/** Every operation of this service; `openapi.yaml` describes the same set. */
export function createOperations(parts: OperationParts): readonly Operation[] {
  const { register, update, list } = collectionHandlers(parts);
  const { get, rotate, remove } = oneHandlers(parts);
  const { show, replace, reset } = policyHandlers(parts);
  const body = { path: COLLECTION, scopes: WRITE, maxBodyBytes: MAX_BODY_BYTES };
  return [
    { method: 'GET', path: COLLECTION, scopes: READ, query: LIST_PARAMETERS, handle: list },
    { method: 'POST', ...body, handle: register },
    { method: 'PUT', ...body, handle: update },
    { method: 'GET', path: ONE, scopes: READ, handle: get },
    { method: 'POST', path: `${ONE}/secret`, scopes: WRITE, maxBodyBytes: MAX_BODY_BYTES, handle: rotate },
    { method: 'DELETE', path: `${ONE}/secret`, scopes: WRITE, handle: remove },
    egressOperation(parts.egress),
    { method: 'GET', path: `${ONE}/policy`, scopes: READ, handle: show },
    { method: 'PUT', path: `${ONE}/policy`, scopes: WRITE, maxBodyBytes: MAX_POLICY_BYTES, handle: replace },
    { method: 'DELETE', path: `${ONE}/policy`, scopes: WRITE, handle: reset },
  ];
}
