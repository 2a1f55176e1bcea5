import { AppError } from '@webhooks/http-api';
import { v7 as uuidv7 } from 'uuid';
import { retryOnConflict } from './change-configuration.js';
import type { Change, StorePorts } from './change-configuration.js';
import { MAX_ALERT_ENDPOINTS } from '../store/configuration-store.js';
import { isAlertEndpoint } from './configuration.js';
import type { Configuration } from './configuration.js';
import { differencesOf, withInput } from './webhook-input.js';
import type { WebhookInput } from './webhook-input.js';

export interface RegisterPorts extends StorePorts {
  /** Most webhooks of one tenant, and most alert endpoints that it ever registers. */
  readonly maxWebhooks: number;
}

/**
 * Makes the error for a registration whose ref, or application, event type and URL, belongs to another configuration.
 * It names the fields that differ.
 */
export function alreadyRegistered(stored: Configuration, input: WebhookInput): AppError {
  const { ref } = stored;
  const [kind, advice] = isAlertEndpoint(stored)
    ? ['alert endpoint', 'end it with DELETE, and register another one under another ref']
    : ['webhook', 'change it with PUT and this ref'];
  const violations = differencesOf(input, stored).map(([property, value]) => ({
    property,
    reason: `is ${JSON.stringify(value ?? null)} in the registered ${kind}`,
  }));
  const names = violations.map(({ property }) => property).join(', ');
  const detail = `the ${kind} ${ref} is registered with another ${names}; ${advice}`;
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

const tooMany = (max: number, what: string): AppError =>
  new AppError('limit-reached', `a tenant can have at most ${max} ${what}`);

/** Ended alert endpoints count for the number of registrations only, which bounds the documents of a tenant. */
async function nextPosition(
  tenantId: string,
  { alert }: WebhookInput,
  ports: RegisterPorts,
): Promise<number> {
  const side = alert ? -1 : 1;
  // Read before the alert endpoints: of two concurrent registrations that count the same ones, the second finds its position
  // taken.
  const next = (await ports.countRegistered(tenantId, side)) + 1;
  if (next > ports.maxWebhooks)
    throw tooMany(ports.maxWebhooks, alert ? 'alert endpoints, ended ones included' : 'webhooks');
  if (alert && (await ports.alertEndpoints(tenantId)).length >= MAX_ALERT_ENDPOINTS)
    throw tooMany(MAX_ALERT_ENDPOINTS, 'alert endpoints');
  return side * next;
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
  const next = create(tenantId, input, await nextPosition(tenantId, input, ports), ports);
  return (await ports.insert(next)) === 'inserted' ? { before: undefined, after: next } : undefined;
}

/**
 * `POST`: registers a webhook or an alert endpoint. A repeat with the same values returns the registered one. Concurrent registrations
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
