import { createClient } from '@webhooks/client';
import type { Client } from '@webhooks/client';
import { ProblemError } from '@webhooks/client';
import type { DevelopmentClient } from '@webhooks/engines';
import type { StackDescription } from '@webhooks/stack';
import type { Hook } from './hooks.js';

/** Addresses of the services. Behind one public address all are the same, and `queryApi` may be left out. */
export type ServiceAddresses = Pick<StackDescription, 'configApi' | 'ingest' | 'tokenEndpoint'> &
  Partial<Pick<StackDescription, 'queryApi'>>;

/** A client of the services for one machine's credentials. */
export function clientFor({ clientId, clientSecret }: DevelopmentClient, stack: ServiceAddresses): Client {
  return createClient({
    baseUrl: stack.configApi,
    ingestUrl: stack.ingest,
    queryUrl: stack.queryApi ?? stack.configApi,
    credentials: { tokenEndpoint: stack.tokenEndpoint, clientId, clientSecret },
  });
}

/** Registers the hook's endpoint, or moves it to this run's address when an earlier run registered it. */
async function registerHook(client: Client, hook: Hook, endpointUrl: string): Promise<void> {
  const webhook = {
    ref: hook.ref,
    eventType: hook.eventType,
    endpointUrl,
    applicationId: 'demo',
    enabled: true,
  };
  try {
    await client.register(webhook);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== 'webhook-already-registered') throw error;
    await client.update(webhook);
  }
}

export interface RegisterOptions {
  readonly clientOf: (tenantId: string) => Client;
  readonly urlOf: (hook: Hook) => string;
}

/** Registers all hooks, tenant by tenant with the tenant's own token. */
export async function registerHooks(hooks: readonly Hook[], options: RegisterOptions): Promise<void> {
  const byTenant = Map.groupBy(hooks, ({ tenantId }) => tenantId);
  for (const [tenantId, own] of byTenant) {
    const client = options.clientOf(tenantId);
    await Promise.all(own.map((hook) => registerHook(client, hook, options.urlOf(hook))));
  }
}
