import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { Client } from '@webhooks/client';
import { closeAfterFault, startStack } from '@webhooks/local';
import { eventually } from '@webhooks/testkit';
import { clientFor, registerWebhooks, areZero, readLags } from '@webhooks/testkit/account';
import type { OwedEndpoint, ProjectionLag } from '@webhooks/testkit/account';
import { BENCH_EVENT_TYPE } from '../load/generator.js';
import { startReceiver } from '../load/processes.js';
import { monotonicMicros } from '../measure.js';
import type { Pids } from '../measure.js';

/** An endpoint that is registered and in force. */
export interface BenchEndpoint extends OwedEndpoint {
  /** `https://localhost:<port>`. Endpoints at different ports have separate connection pools. */
  readonly origin: string;
  readonly ref: string;
}

/** The endpoints of a run. */
export type Endpoints = readonly BenchEndpoint[];

export interface WorldOptions {
  readonly dataDir: string;
  readonly tenants: readonly string[];
  /** Number of receiver ports. Each port has a connection pool of its own. */
  readonly ports: number;
  /** Whether query-api runs too; default: no. */
  readonly withQueryApi?: boolean;
}

/** Starts a stack with empty topics and a new worker, and its receiver. Each scenario opens its own. */
export async function openWorld(options: WorldOptions) {
  const { dataDir, tenants, ports } = options;
  mkdirSync(dataDir, { recursive: true });
  const stack = await startStack({
    ...{ dataDir, tenants, fixedPorts: false, forLoad: true },
    without: options.withQueryApi === true ? [] : ['query-api'],
    log: () => undefined,
  });
  const receiver = await startReceiver({ ...stack.description().tls, ports }).catch((error: unknown) =>
    closeAfterFault([() => stack.stop()], 'the world', error),
  );
  return {
    stack,
    receiver,
    /** Ids of the processes of the system under test, by name: services, broker, database. */
    pids: (): Pids => {
      const { start: _bench, ...processes } = stack.description().processes;
      return processes;
    },
    close: async () => {
      await receiver.stop();
      await stack.stop();
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** Creates a client with the credentials of this tenant. */
export const clientOf = ({ stack }: Pick<World, 'stack'>, tenantId: string): Client =>
  clientFor(stack.description(), tenantId);

/** Registers endpoints through config-api, as an integrator does, each at the receiver's port of the same index. */
export async function registerEndpoints(world: World, wanted: readonly OwedEndpoint[]): Promise<Endpoints> {
  const { origins } = world.receiver;
  const endpoints = wanted.map((one, index) => {
    const origin = origins[index % origins.length] ?? '';
    // A new ref for each run: an external database (`MONGODB_URI`) still holds the deliveries of the last one.
    return { ...one, origin, ref: randomUUID() };
  });
  await registerWebhooks(
    (tenantId) => clientOf(world, tenantId),
    endpoints.map(({ path, origin, eventType = BENCH_EVENT_TYPE, ...one }) => ({
      ...{ ...one, eventType },
      endpointUrl: origin + path,
    })),
  );
  return endpoints;
}

/** Endpoints of a scenario, with a tenant and a port each. */
export const ENDPOINTS = 10;

/** Returns the names of the ten tenants of a run. */
export const tenTenants = (run: string): readonly string[] =>
  Array.from({ length: ENDPOINTS }, (_, index) => `${run}-${index}`);

/** Registers ten endpoints, each with a tenant, a port and a tenth of the events. */
export const registerTen = (world: World, run: string): Promise<Endpoints> =>
  registerEndpoints(
    world,
    tenTenants(run).map((tenantId) => ({ tenantId, path: `/${tenantId}` })),
  );

/** Registers `fanOut` endpoints of one tenant, each of which gets all of its events. */
export const registerFanOut = (world: World, tenantId: string, fanOut: number): Promise<Endpoints> =>
  registerEndpoints(
    world,
    Array.from({ length: fanOut }, (_, index) => ({ tenantId, path: `/${tenantId}/${index}` })),
  );

/** Returns a function that says whether a path belongs to one of these endpoints. */
export function isPathOf(endpoints: readonly OwedEndpoint[]): (path: string) => boolean {
  const paths = new Set(endpoints.map(({ path }) => path));
  return (path) => paths.has(path);
}

/** A worker reports attempts in batches, about 20 ms later, so a single lag of 0 proves nothing. */
const ZERO_FOR_MICROS = 500_000;
/** At its slowest the embedded database projects about 100 attempts a second, so a full run takes minutes. */
const DEADLINE = { timeoutMs: 900_000, intervalMs: 100, message: 'query-api has projected everything' };

/**
 * Waits until query-api has projected everything on its topics. `wanted`: only this projection; default: all. `onLags` gets the lags of
 * each poll. Resolves with the time (monotonic microseconds) since which the lag is 0. Rejects after a quarter of an hour.
 */
export async function waitForProjections(
  { stack }: World,
  wanted?: string,
  onLags?: (lags: readonly ProjectionLag[]) => unknown,
): Promise<number> {
  let zeroSince = Infinity;
  await eventually(async () => {
    const lags = await readLags(stack.description().admin['query-api']);
    onLags?.(lags);
    const isZero = areZero(lags.filter(({ projection }) => wanted === undefined || projection === wanted));
    zeroSince = isZero ? Math.min(zeroSince, monotonicMicros()) : Infinity;
    return monotonicMicros() - zeroSince > ZERO_FOR_MICROS;
  }, DEADLINE);
  return zeroSince;
}
