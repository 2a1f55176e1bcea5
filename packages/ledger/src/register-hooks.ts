import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError, createClient } from '@webhooks/client';
import type { Client, WebhookInput } from '@webhooks/client';
import type { DevelopmentClient } from '@webhooks/engines';
import type { StackDescription } from '@webhooks/stack';
import type { FeedLine } from './feed-line.js';
import { planHooks } from './hooks.js';
import type { Hook } from './hooks.js';

type ServiceAddresses = Pick<StackDescription, 'configApi' | 'ingest' | 'queryApi' | 'tokenEndpoint'>;

/** What feeding and accounting need of a stack, whether it runs as processes or as containers. */
export type FedStack = ServiceAddresses & Pick<StackDescription, 'kafkaBrokers' | 'clients'>;

/** A change of a configuration is in force for events that reach Kafka later than this after its response. */
export const IN_FORCE_MS = 1_000;

/** A client of the services for one machine's credentials. */
export function clientFor({ clientId, clientSecret }: DevelopmentClient, stack: ServiceAddresses): Client {
  return createClient({
    baseUrl: stack.configApi,
    ingestUrl: stack.ingest,
    queryUrl: stack.queryApi ?? stack.configApi,
    credentials: { tokenEndpoint: stack.tokenEndpoint, clientId, clientSecret },
  });
}

/** A client for the first credentials that fit. Throws when there are none. */
export function findClient(stack: FedStack, fits: (client: DevelopmentClient) => boolean): Client {
  const found = stack.clients.find(fits);
  if (!found)
    throw new Error('the stack has no client for a tenant of the events, or none for a payment system');
  return clientFor(found, stack);
}

/** Registers endpoints, or moves them to this run's addresses when an earlier run registered them. Waits until they are in force. */
export async function registerWebhooks(client: Client, webhooks: readonly WebhookInput[]): Promise<void> {
  const register = async (webhook: WebhookInput): Promise<unknown> => {
    try {
      return await client.register(webhook);
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.code !== 'webhook-already-registered')
        throw error;
      return client.update({ ...webhook, enabled: true });
    }
  };
  await Promise.all(webhooks.map(register));
  await delay(IN_FORCE_MS);
}

/** Registers an endpoint at `receiver` for each tenant and type found in the lines, and waits until they are in force. */
export async function putInForce(
  lines: readonly FeedLine[],
  stack: FedStack,
  receiver: string,
): Promise<readonly Hook[]> {
  const hooks = planHooks(lines.flatMap(({ event }) => event ?? []));
  const byTenant = Map.groupBy(hooks, ({ tenantId }) => tenantId);
  await Promise.all(
    [...byTenant].map(([tenantId, own]) =>
      registerWebhooks(
        findClient(stack, (client) => client.tenantId === tenantId),
        own.map(({ ref, eventType, path }) => ({
          ...{ ref, eventType, applicationId: 'demo', enabled: true },
          endpointUrl: receiver + path,
        })),
      ),
    ),
  );
  return hooks;
}
