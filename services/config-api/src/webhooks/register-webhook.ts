import { AppError } from '@webhooks/http-api';
import { v7 as uuidv7 } from 'uuid';
import { retryOnConflict } from './change-configuration.js';
import type { Change } from './change-configuration.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import type { Configuration } from './configuration.js';
import { differencesOf, withInput } from './webhook-input.js';
import type { WebhookInput } from './webhook-input.js';

export interface RegisterPorts extends Pick<
  ConfigurationStore,
  'findByRef' | 'findByRoute' | 'lastPosition' | 'insert' | 'confirm'
> {
  readonly now: () => Date;
  /** Most configurations of one tenant. */
  readonly maxWebhooks: number;
}

/**
 * Makes the error for a registration whose ref, or application, event type and URL, belongs to another configuration.
 * It names the fields that differ.
 */
export function alreadyRegistered(stored: Configuration, input: WebhookInput): AppError {
  const { ref } = stored;
  const violations = differencesOf(input, stored).map((property) => ({
    property,
    reason: `is ${JSON.stringify(stored[property] ?? null)} in the registered webhook`,
  }));
  const names = violations.map(({ property }) => property).join(', ');
  const detail = `the webhook ${ref} is registered with another ${names}; change it with PUT and this ref`;
  return new AppError('webhook-already-registered', detail, { violations, members: { ref } });
}

async function findSame(
  tenantId: string,
  input: WebhookInput,
  ports: RegisterPorts,
): Promise<Configuration | undefined> {
  const byRef = input.ref === undefined ? undefined : await ports.findByRef(tenantId, input.ref);
  return byRef ?? ports.findByRoute(tenantId, input);
}

async function nextPosition(tenantId: string, ports: RegisterPorts): Promise<number> {
  const position = (await ports.lastPosition(tenantId)) + 1;
  if (position <= ports.maxWebhooks) return position;
  throw new AppError('limit-reached', `a tenant can have at most ${ports.maxWebhooks} webhooks`);
}

function create(
  tenantId: string,
  input: WebhookInput,
  position: number,
  ports: RegisterPorts,
): Configuration {
  const now = ports.now();
  return {
    ...withInput({ enabled: true }, input),
    ref: input.ref ?? uuidv7(),
    tenantId,
    position,
    revision: 1,
    publishedRevision: 0,
    createdAt: now,
    updatedAt: now,
    secrets: [],
    policy: {},
  };
}

/** Tries to register. Undefined when another registration took the ref, the route or the position meanwhile. */
async function tryToRegister(
  tenantId: string,
  input: WebhookInput,
  ports: RegisterPorts,
): Promise<Change | undefined> {
  const same = await findSame(tenantId, input, ports);
  if (same) {
    if (differencesOf(input, same).length > 0) throw alreadyRegistered(same, input);
    return (await ports.confirm(same)) ? { before: same, after: same } : undefined;
  }
  const next = create(tenantId, input, await nextPosition(tenantId, ports), ports);
  return (await ports.insert(next)) === 'inserted' ? { before: undefined, after: next } : undefined;
}

/**
 * `POST`: registers a configuration. A repeat with the same values returns the registered one. Concurrent registrations
 * cannot exceed the limit of a tenant: each needs a free position up to the limit, and a unique index prevents that two
 * get the same one.
 */
export const registerWebhook = (
  tenantId: string,
  input: WebhookInput,
  ports: RegisterPorts,
): Promise<Change> =>
  retryOnConflict(
    () => tryToRegister(tenantId, input, ports),
    'other requests changed the webhooks of the tenant',
  );
