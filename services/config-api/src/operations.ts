import { AppError, refOf } from '@webhooks/http-api';
import type { ApiReply, ApiRequest, Operation } from '@webhooks/http-api';
import type { Audit, AuditedRequest } from './audit.js';
import type { Change } from './change-configuration.js';
import type { ConfigurationStore } from './configuration-store.js';
import { toView } from './configuration.js';
import type { Configuration } from './configuration.js';
import { getWebhook } from './get-webhook.js';
import { LIST_PARAMETERS, readListQuery } from './list-query.js';
import { listWebhooks } from './list-webhooks.js';
import type { PublishConfiguration } from './publish-configuration.js';
import { registerWebhook } from './register-webhook.js';
import { removeSecret } from './remove-secret.js';
import { readRotationRequest, rotateSecret } from './rotate-secret.js';
import type { TakeTurns } from './take-turns.js';
import { updateWebhook } from './update-webhook.js';
import type { WebhookInput } from './webhook-input.js';

export interface OperationParts {
  readonly readInput: (request: ApiRequest) => WebhookInput;
  /** The store, for all statements of one request, within so many milliseconds. */
  readonly storeFor: (ms: number) => ConfigurationStore;
  readonly takeTurns: TakeTurns;
  readonly publish: PublishConfiguration;
  readonly audit: Audit;
  readonly newRef: () => string;
  readonly newSecret: () => string;
  readonly seal: (secret: string, configuration: Configuration) => string;
  readonly now: () => Date;
  readonly maxWebhooks: number;
}

const COLLECTION = '/integration/v1/webhooks';
const ONE = `${COLLECTION}/:ref`;
const MAX_BODY_BYTES = 16_384;
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

/** Writes of one tenant take turns in this process; see `createTurns` for how long. */
const inTurn = <C extends Change>(
  requested: AuditedRequest,
  parts: OperationParts,
  work: (ports: OperationParts & ConfigurationStore) => Promise<C>,
): Promise<C> => {
  const ports = { ...parts, ...auditedStore(requested, parts) };
  return parts.takeTurns(requested.request.identity.tenantId, () => work(ports));
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

function oneHandlers(parts: OperationParts): Record<'get' | 'rotate' | 'remove', Handler> {
  return {
    get: async (request) => {
      const { findByRef } = parts.storeFor(DATABASE_MS);
      return {
        status: 200,
        body: toView(await getWebhook(request.identity.tenantId, refOf(request), findByRef)),
      };
    },
    rotate: async (request) => {
      const wanted = readRotationRequest(request);
      const requested = { action: 'rotate-secret', request } as const;
      const rotation = await inTurn(requested, parts, (ports) =>
        rotateSecret(request.identity.tenantId, refOf(request), { ...ports, ...wanted }),
      );
      const published = await tell(requested, rotation, parts);
      const until = rotation.after.secrets[1]?.expiresAt?.toISOString();
      const previous = until === undefined ? {} : { previousValidUntil: until };
      const { after, secret } = rotation;
      return { status: 200, body: { ref: after.ref, secret, ...previous, ...unlessPublished(published) } };
    },
    remove: async (request) => {
      const requested = { action: 'remove-secret', request } as const;
      const change = await inTurn(requested, parts, (ports) =>
        removeSecret(request.identity.tenantId, refOf(request), ports),
      );
      // 202: done as far as the database goes, not in force yet.
      return { status: (await tell(requested, change, parts)) ? 204 : 202 };
    },
  };
}

const READ = ['webhook.read'] as const;
const WRITE = ['webhook.write'] as const;

/** Every operation of this service; `openapi.yaml` describes the same set. */
export function createOperations(parts: OperationParts): readonly Operation[] {
  const { register, update, list } = collectionHandlers(parts);
  const { get, rotate, remove } = oneHandlers(parts);
  const body = { path: COLLECTION, scopes: WRITE, maxBodyBytes: MAX_BODY_BYTES };
  return [
    { method: 'GET', path: COLLECTION, scopes: READ, query: LIST_PARAMETERS, handle: list },
    { method: 'POST', ...body, handle: register },
    { method: 'PUT', ...body, handle: update },
    { method: 'GET', path: ONE, scopes: READ, handle: get },
    { method: 'POST', path: `${ONE}/secret`, scopes: WRITE, maxBodyBytes: MAX_BODY_BYTES, handle: rotate },
    { method: 'DELETE', path: `${ONE}/secret`, scopes: WRITE, handle: remove },
  ];
}
