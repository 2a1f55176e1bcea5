import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError, createClient } from '@webhooks/client';
import type { CallOptions, Client, Webhook, WebhookInput } from '@webhooks/client';
import type { PaymentEvent } from '@webhooks/contracts';
import type { StackDescription } from '@webhooks/local';
import { eventually } from '../eventually.js';
import { STALLED_MS } from './progress.js';

/** The part of a stack that feeding and accounting use. The stack runs as processes or as containers. */
export type FedStack = Pick<
  StackDescription,
  'configApi' | 'ingest' | 'queryApi' | 'tokenEndpoint' | 'kafkaBrokers' | 'clients'
>;

/** A configuration change is in force for events that reach Kafka later than this after its response, milliseconds. */
export const IN_FORCE_MS = 1_000;

/** Creates a client of a tenant, or of the payment system that serves all. `who`: its tenant id or client id. Throws when there is none. */
export function clientFor(stack: FedStack, who: string, options: CallOptions = {}): Client {
  const found = stack.clients.find(({ tenantId, clientId }) => tenantId === who || clientId === who);
  if (!found) throw new Error(`the stack has no client for ${who}`);
  const { clientId, clientSecret } = found;
  return createClient({
    ...options,
    baseUrl: stack.configApi,
    ingestUrl: stack.ingest,
    queryUrl: stack.queryApi ?? stack.configApi,
    credentials: { tokenEndpoint: stack.tokenEndpoint, clientId, clientSecret },
  });
}

/** Registers an endpoint, or moves it to this run's address when an earlier run registered it. */
async function register(client: Client, webhook: WebhookInput): Promise<Webhook> {
  try {
    return await client.register(webhook);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== 'webhook-already-registered') throw error;
    return client.update({ ...webhook, enabled: true });
  }
}

/** Registers endpoints of tenants, and waits until they are in force. Throws when Kafka does not acknowledge one within two minutes. */
export async function registerWebhooks(
  clientOf: (tenantId: string) => Client,
  webhooks: readonly (WebhookInput & { readonly tenantId: string })[],
): Promise<void> {
  const byTenant = Map.groupBy(webhooks, ({ tenantId }) => tenantId);
  const registering = [...byTenant].map(async ([tenantId, own]) => {
    const client = clientOf(tenantId);
    // One at a time, because config-api limits the concurrent requests of a tenant.
    for (const { tenantId: _, ...webhook } of own) {
      const isDone = async () => (await register(client, webhook)).published !== false;
      // A repeat publishes what Kafka has not acknowledged.
      if (!(await isDone())) await eventually(isDone, { timeoutMs: STALLED_MS, message: 'it is published' });
    }
  });
  await Promise.all(registering);
  await delay(IN_FORCE_MS);
}

/**
 * Derives a `ref` from a path. The same path always has the same `ref`, so a second start updates the webhook that the first one
 * registered.
 */
export function refOf(path: string): string {
  const hex = createHash('sha256').update(path).digest('hex');
  // A UUID of version 8 (RFC 9562 §5.8), whose content an application may define.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function makeHook(kind: 'hooks' | 'refuses-first', { tenantId, eventType }: PaymentEvent) {
  const path = `/${kind}/${encodeURIComponent(tenantId)}/${eventType}`;
  return { tenantId, eventType, path, ref: refOf(path) } as const;
}
/** One endpoint of the demonstration: its registration, and the path at which its notifications arrive. */
export type Hook = ReturnType<typeof makeHook>;

/** Plans an endpoint for each pair of tenant and event type. The rarest pair gets a second one that refuses first attempts. */
export function planHooks(events: readonly PaymentEvent[]): readonly Hook[] {
  const byRoute = Map.groupBy(events, ({ tenantId, eventType }) => `${tenantId} ${eventType}`);
  const routes = [...byRoute.values()].sort((a, b) => a.length - b.length).flatMap(([first]) => first ?? []);
  const rarest = routes.slice(0, 1);
  return [
    ...routes.map((event) => makeHook('hooks', event)),
    ...rarest.map((event) => makeHook('refuses-first', event)),
  ];
}

/** Registers an endpoint at `receiver` for each tenant and type of the events, and waits until they are in force. */
export async function registerWebhooksForEvents(
  events: readonly PaymentEvent[],
  stack: FedStack,
  receiver: string,
): Promise<readonly Hook[]> {
  const hooks = planHooks(events);
  await registerWebhooks(
    (tenantId) => clientFor(stack, tenantId),
    hooks.map(({ path, ...hook }) => ({ ...hook, applicationId: 'demo', endpointUrl: receiver + path })),
  );
  return hooks;
}
