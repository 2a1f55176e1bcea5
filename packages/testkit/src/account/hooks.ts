import { createHash } from 'node:crypto';
import type { EventType, PaymentEvent } from '@webhooks/contracts';
import type { FeedLine } from './feed.js';
import { findClient, registerWebhooks } from './register-webhooks.js';
import type { FedStack } from './register-webhooks.js';

/** One endpoint of the demonstration: what is registered, and the path that identifies its arrivals. */
export interface Hook {
  readonly tenantId: string;
  readonly eventType: EventType;
  readonly path: string;
  readonly ref: string;
}

/** A `ref` derived from a path. It is the same at every start, so that a second start updates what the first one registered. */
export function refOf(path: string): string {
  const hex = createHash('sha256').update(path).digest('hex');
  // The shape of a UUID of version 8 (RFC 9562 §5.8): its content is ours.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function makeHook(kind: 'hooks' | 'refuses-first', { tenantId, eventType }: PaymentEvent): Hook {
  const path = `/${kind}/${encodeURIComponent(tenantId)}/${eventType}`;
  return { tenantId, eventType, path, ref: refOf(path) };
}

/** One endpoint for each tenant and type found, and one more that refuses first attempts, for the rarest of them. */
export function planHooks(events: readonly PaymentEvent[]): readonly Hook[] {
  const byRoute = Map.groupBy(events, ({ tenantId, eventType }) => `${tenantId} ${eventType}`);
  const routes = [...byRoute.values()].sort((a, b) => a.length - b.length).flatMap(([first]) => first ?? []);
  const rarest = routes.slice(0, 1);
  return [
    ...routes.map((event) => makeHook('hooks', event)),
    ...rarest.map((event) => makeHook('refuses-first', event)),
  ];
}

/** Registers an endpoint at `receiver` for each tenant and type found in the lines, and waits until they are in force. */
export async function putInForce(
  lines: readonly FeedLine[],
  stack: FedStack,
  receiver: string,
): Promise<readonly Hook[]> {
  const hooks = planHooks(lines.flatMap(({ event }) => event ?? []));
  await registerWebhooks(
    (tenantId) => findClient(stack, (client) => client.tenantId === tenantId),
    hooks.map(({ path, ...hook }) => ({ ...hook, applicationId: 'demo', endpointUrl: receiver + path })),
  );
  return hooks;
}
