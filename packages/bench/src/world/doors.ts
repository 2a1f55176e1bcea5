import { PAYMENT_SYSTEM } from '@webhooks/stack';
import { clientFor } from '@webhooks/ledger';
import type { DoorPlan } from '../load/generator-messages.js';
import type { BenchEndpoint, World } from './world.js';

/** Straight to the topic. */
export const topicDoor = ({ stack }: World): DoorPlan => ({
  kind: 'topic',
  brokers: stack.description().kafkaBrokers,
});

/** Through `ingest`, as a payment system that serves all tenants. */
export async function ingestDoor({ stack }: World, connections: number): Promise<DoorPlan> {
  const description = stack.description();
  const paymentSystem = description.clients.find(({ clientId }) => clientId === PAYMENT_SYSTEM);
  if (!paymentSystem) throw new Error('the stack has no client for a payment system');
  const token = await clientFor(paymentSystem, description).token();
  return { kind: 'ingest', url: `${description.ingest}/integration/v1/events`, token, connections };
}

/** Past the service, to the endpoints themselves. */
export const endpointsDoor = (
  { caFile }: World,
  endpoints: readonly BenchEndpoint[],
  connections: number,
): DoorPlan => ({
  kind: 'endpoints',
  urls: endpoints.map(({ origin, path }) => `${origin}${path}`),
  caFile,
  connections,
});
