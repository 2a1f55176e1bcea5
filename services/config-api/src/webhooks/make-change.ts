import { AppError } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { withDeadline } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';
import type { PublishConfiguration } from '../publication/publish-configuration.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import type { Change } from './change-configuration.js';
import type { ChangeEntry } from '../store/database.js';
import type { Configuration } from './configuration.js';
import type { DescribeChange } from './describe-change.js';
import { ProofNeeded, withoutProof } from './prove-endpoint.js';
import type { ProveEndpoint } from './prove-endpoint.js';
import type { WebhookInput } from './webhook-input.js';

/**
 * Runs the works of one key one at a time, in the order of the calls. Works of different keys do not wait for each other.
 */
export type RunExclusive = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Creates a mutex for each key. A call that waits longer than `maxWaitMs` rejects with `onLate`, and its work never
 * runs.
 */
export function createKeyedMutex(maxWaitMs: number, onLate: (cause: unknown) => Error): RunExclusive {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = tails.get(key) ?? Promise.resolve();
    const waiting = withDeadline(before, maxWaitMs, 'waiting for a turn').catch((cause: unknown) => {
      throw onLate(cause);
    });
    const turn = waiting.then(work);
    const tail = Promise.allSettled([before, turn]).then(() => {
      if (tails.get(key) === tail) tails.delete(key);
    });
    tails.set(key, tail);
    return turn;
  };
}

/** A change that a caller requests. */
interface AuditedRequest {
  readonly action:
    'register' | 'update' | 'rotate-secret' | 'remove-secret' | 'replace-policy' | 'remove-policy' | 'end';
  readonly request: ApiRequest;
  /** Absent when the path names the webhook. */
  readonly input?: WebhookInput;
}

export interface MakeChangePorts {
  /** Opens the store for all statements of one request. */
  readonly storeFor: () => ConfigurationStore;
  readonly runExclusive: RunExclusive;
  /** Undefined when endpoints need no ownership challenge. */
  readonly prove: ProveEndpoint | undefined;
  readonly publish: PublishConfiguration;
  /** Gets the audit trail. */
  readonly log: Logger;
  readonly describe: DescribeChange;
}

/**
 * Writes one line of the audit trail, for every change that was made, or whose result is unknown. It says who changed
 * which fields of which webhook. Without `change` the result is unknown, and it repeats the names in the request.
 */
function audit(
  { action, request, input }: AuditedRequest,
  { log, describe }: Pick<MakeChangePorts, 'log' | 'describe'>,
  change?: Change,
): void {
  const { clientId, personId, tenantId } = request.identity;
  const who = { action, requestId: request.requestId, clientId, personId, tenantId };
  if (change === undefined) {
    const ref = input?.ref ?? request.params['ref'];
    const named = { ref, eventType: input?.eventType, applicationId: input?.applicationId };
    log.warn('audit', { ...who, ...named, outcome: 'unknown' });
    return;
  }
  const fields = describe(change.before, change.after).map(({ field }) => field);
  const { ref, revision } = change.after;
  log.info('audit', { ...who, ref, revision, changed: fields.length > 0, fields });
}

/**
 * Makes a change, writes it to the audit trail and publishes it. `published`: Kafka has acknowledged the change, and it
 * is in force within a second. Changes of one tenant run one at a time in this process.
 */
export type MakeChange = <C extends Change>(
  requested: AuditedRequest,
  work: (store: ConfigurationStore) => Promise<C>,
) => Promise<C & { readonly published: boolean }>;

/** Makes the entry of a change for its document; undefined when no field has another value. */
function entryOf(
  { action, request }: AuditedRequest,
  { revision, updatedAt }: Configuration,
  fields: ChangeEntry['fields'],
): ChangeEntry | undefined {
  if (fields.length === 0) return undefined;
  const { clientId, personId } = request.identity;
  const person = personId === undefined ? {} : { person: personId };
  return { at: updatedAt, action, client: clientId, ...person, revision, fields };
}

/**
 * Opens the store for one change. Its writes say who changes what. Audits a write that fails, because the database may
 * have applied it.
 */
function auditedStore(requested: AuditedRequest, ports: MakeChangePorts): ConfigurationStore {
  const store = ports.storeFor();
  const entry = (before: Configuration | undefined, after: Configuration) =>
    entryOf(requested, after, ports.describe(before, after));
  const onFailure = (error: unknown): never => {
    if (error instanceof AppError && error.code === 'database-unavailable') audit(requested, ports);
    throw error;
  };
  return {
    ...store,
    insert: (after) => store.insert(after, entry(undefined, after)).catch(onFailure),
    replace: (before, after) => store.replace(before, after, entry(before, after)).catch(onFailure),
  };
}

export function createMakeChange(ports: MakeChangePorts): MakeChange {
  const { runExclusive, prove, publish } = ports;
  return async (requested, work) => {
    const { identity } = requested.request;
    const store = auditedStore(requested, ports);
    const run = (used: ConfigurationStore) => runExclusive(identity.tenantId, () => work(used));
    const change = await run(prove ? withoutProof(store) : store).catch(async (error: unknown) => {
      if (!prove || !(error instanceof ProofNeeded)) throw error;
      // Outside the mutex, so that a slow endpoint does not delay other changes of its tenant.
      await prove(identity, error.configuration);
      return run(store);
    });
    audit(requested, ports, change);
    return { ...change, published: await publish(change.after) };
  };
}
