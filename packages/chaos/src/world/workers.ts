import type { Stack } from '@webhooks/stack';
import type { World } from './world.js';

/** The workers of all runs, in the order in which they are started. */
export const WORKERS = ['delivery-worker', 'delivery-worker-2'] as const;

/** Starts a worker that does not run; the second one finds the broker through a link of its own. */
export async function startWorker(
  { stack, links }: { readonly stack: Pick<Stack, 'fleet'> } & Pick<World, 'links'>,
  name: (typeof WORKERS)[number],
): Promise<void> {
  if (name === 'delivery-worker') {
    await stack.fleet.start(name);
    return;
  }
  const env = { KAFKA_BROKERS: `127.0.0.1:${links[name].port}` };
  await stack.fleet.startMore({ name, like: 'delivery-worker', env });
}
