import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clientFor } from '@webhooks/ledger';
import { startStack } from '@webhooks/stack';
import type { Stack } from '@webhooks/stack';
import { BENCH_EVENT_TYPE } from '../load/make-events.js';
import type { OwedEndpoint } from '../measure/run-ledger.js';
import type { Pids } from '../measure/usage-span.js';
import { startReceiver } from '../receiver/receiver.js';
import type { Receiver } from '../receiver/receiver.js';

/** An endpoint that is registered and in force. */
export interface BenchEndpoint extends OwedEndpoint {
  /** `https://localhost:<port>`: a port, and so a connection pool, of its own. */
  readonly origin: string;
  readonly ref: string;
}

/** A stack with empty topics and a worker that has done nothing yet, and its receiver. Each scenario has one of its own. */
export interface World {
  readonly stack: Stack;
  readonly receiver: Receiver;
  /** A folder that is removed with the world. */
  readonly dir: string;
  readonly caFile: string;
  /** Processes of the system under test, by name: services, broker, database. */
  pids(): Pids;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly dataDir: string;
  readonly tenants: readonly string[];
  /** Ports of the receiver: the endpoints with connections of their own. */
  readonly ports: number;
  /** Whether query-api runs too; default: no. */
  readonly withQueryApi?: boolean;
  /** Settings for each service, by its name. */
  readonly overrides?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** See `ReceiverPlan`. */
  readonly dropReceipt?: number;
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const { dataDir, tenants, ports } = options;
  mkdirSync(dataDir, { recursive: true });
  const stack = await startStack({
    dataDir,
    fixedPorts: false,
    // Reads beside the deliveries: a row of its own where it is measured.
    without: options.withQueryApi === true ? [] : ['query-api'],
    tenants,
    overrides: options.overrides ?? {},
    log: () => undefined,
  });
  const { certFile, keyFile, caFile } = stack.description().tls;
  const receiver = await startReceiver({
    certFile,
    keyFile,
    ports,
    file: join(dataDir, 'receipts.txt'),
    ...(options.dropReceipt === undefined ? {} : { dropReceipt: options.dropReceipt }),
  }).catch(async (error: unknown) => {
    await stack.stop();
    throw error;
  });
  return {
    stack,
    receiver,
    dir: dataDir,
    caFile,
    pids: () => {
      const { start: _bench, ...processes } = stack.description().processes;
      return processes;
    },
    close: async () => {
      await receiver.stop();
      await stack.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** In force for events that reach Kafka later than 1 s after the answer (contract §1). */
const IN_FORCE_MS = 1_000;

/** Registers endpoints through config-api, as an integrator does, each at the receiver's port of the same index. */
export async function registerEndpoints(
  { stack, receiver }: World,
  wanted: readonly OwedEndpoint[],
): Promise<readonly BenchEndpoint[]> {
  const endpoints = await Promise.all(
    wanted.map(async ({ path, tenantId }, index) => {
      const origin = receiver.origins[index % receiver.origins.length] ?? '';
      const client = clientFor(stack.clientOf(tenantId), stack.description());
      const { ref } = await client.register({
        eventType: BENCH_EVENT_TYPE,
        endpointUrl: `${origin}${path}`,
      });
      return { path, tenantId, origin, ref };
    }),
  );
  await delay(IN_FORCE_MS);
  return endpoints;
}
