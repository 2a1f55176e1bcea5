import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventType } from '@webhooks/contracts';
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
  /** Which database it has, in words, and whether one of ours: then it is a child process on this machine. */
  readonly database: { readonly title: string; readonly isEmbedded: boolean };
  /** Processes of the system under test, by name: services, broker, database. */
  pids(): Pids;
  /** Does nothing when it was closed before. */
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

/** The engine says which one it is in a line of the start's log; one that was not started here has no process. */
function databaseOf({ description }: Stack, told: readonly string[]): World['database'] {
  const [title = 'a database'] = told.flatMap(
    (line) => /^MongoDB: (.+?)(?: at mongodb:.*)?$/.exec(line)?.[1] ?? [],
  );
  return { title, isEmbedded: description().processes['mongodb'] !== undefined };
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const { dataDir, tenants, ports } = options;
  mkdirSync(dataDir, { recursive: true });
  const told: string[] = [];
  const stack = await startStack({
    dataDir,
    fixedPorts: false,
    forLoad: true,
    // Reads beside the deliveries: a row of its own where it is measured.
    without: options.withQueryApi === true ? [] : ['query-api'],
    tenants,
    overrides: options.overrides ?? {},
    log: (line) => void told.push(line),
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
  const closeAll = async (): Promise<void> => {
    await receiver.stop();
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  let closing: Promise<void> | undefined;
  return {
    stack,
    receiver,
    dir: dataDir,
    caFile,
    database: databaseOf(stack, told),
    pids: () => {
      const { start: _bench, ...processes } = stack.description().processes;
      return processes;
    },
    close: () => (closing ??= closeAll()),
  };
}

/** In force for events that reach Kafka later than 1 s after the answer. */
const IN_FORCE_MS = 1_000;

/** Registers endpoints through config-api, as an integrator does, each at the receiver's port of the same index. */
export async function registerEndpoints(
  { stack, receiver }: World,
  wanted: readonly (OwedEndpoint & { readonly eventType?: EventType })[],
): Promise<readonly BenchEndpoint[]> {
  const endpoints = await Promise.all(
    wanted.map(async ({ path, tenantId, eventType = BENCH_EVENT_TYPE }, index) => {
      const origin = receiver.origins[index % receiver.origins.length] ?? '';
      const client = clientFor(stack.clientOf(tenantId), stack.description());
      const { ref } = await client.register({
        eventType,
        endpointUrl: `${origin}${path}`,
      });
      return { path, tenantId, origin, ref };
    }),
  );
  await delay(IN_FORCE_MS);
  return endpoints;
}
