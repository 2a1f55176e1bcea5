import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@webhooks/client';
import {
  freePort,
  namedAddress,
  PAYMENT_SYSTEM,
  closeAfterFault,
  closeAll,
  startStack,
} from '@webhooks/local';
import type { CertificateAuthority, Closer, Stack } from '@webhooks/local';
import { startEndpoint } from '@webhooks/testkit';
import type { ConnectionBehaviour, Endpoint, Script } from '@webhooks/testkit';
import { clientFor, registerWebhooks } from '@webhooks/testkit/account';
import type { Print } from '@webhooks/testkit/account';
import { RECEIVERS, TENANTS, planConfigurations, WORKER_SETTINGS } from './configurations.js';
import type { ReceiverName } from './configurations.js';
import { openTcpProxy } from './tcp-proxy.js';
import type { TcpProxy } from './tcp-proxy.js';

/** How a receiver behaves. Defaults: as without a fault. */
export interface ReceiverBehaviour {
  readonly reply?: Script;
  readonly connection?: ConnectionBehaviour;
  /** Whether its port is closed. */
  readonly closed?: true;
}

/** The stubborn receiver always refuses one event of this many. The others keep its breaker closed. */
const STUBBORN_ONE_OF = 8;

/** Whether the stubborn receiver refuses this event, at every attempt of the run. */
const isStubborn = (eventId: string): boolean =>
  createHash('sha256').update(eventId).digest().readUInt16BE() % STUBBORN_ONE_OF === 0;

/**
 * Opens a real HTTPS receiver at a fixed port whose behaviour can be changed. It appends a line for each arrival to `file` before it
 * responds.
 */
async function openReceiver(name: ReceiverName, file: string, authority: CertificateAuthority) {
  const port = await freePort();
  const usual: Script = name === 'stubborn' ? ({ id }) => (isStubborn(id) ? 500 : 200) : 200;
  const { certPem, keyPem } = await authority.issue(['localhost']);
  let endpoint: Endpoint | undefined;
  let last = Promise.resolve();
  /** Closes open connections and changes the behaviour. Calls are queued, because a fault may end while the next one begins. */
  const become = ({ reply = usual, connection = 'accept', closed }: ReceiverBehaviour): Promise<void> =>
    (last = last.then(async () => {
      await endpoint?.close();
      endpoint = undefined;
      if (closed !== true)
        endpoint = await startEndpoint({ port, file, certPem, keyPem, remember: 1, reply, connection });
    }));
  await become({});
  return { origin: `https://localhost:${port}`, become, close: () => become({ closed: true }) };
}

/** Links of the services to the engines, each with its own proxy. All but the last forward to the broker. */
export const LINKS = [
  'config-api',
  'ingest',
  'delivery-worker',
  'delivery-worker-2',
  'query-api',
  'mongodb',
] as const;
type LinkName = (typeof LINKS)[number];
type Links = Readonly<Record<LinkName, TcpProxy>>;

/** The workers of all runs. */
export const WORKERS = ['delivery-worker', 'delivery-worker-2'] as const;

/** Opens one thing for each name, and registers its close. */
async function openEach<N extends string, T extends { close(): Promise<void> }>(
  names: readonly N[],
  open: (name: N) => Promise<T>,
  closers: Closer[],
) {
  const opening = names.map(async (name) => {
    const opened = await open(name);
    closers.push(() => opened.close());
    return [name, opened] as const;
  });
  return Object.fromEntries(await Promise.all(opening)) as Readonly<Record<N, T>>;
}

/** Reserves a listener of the broker for each link. The listener advertises the port of the link's proxy. */
async function reserveProxiedListeners(links: Links) {
  const reserve = async (name: LinkName) => {
    const port = await freePort();
    links[name].forwardTo(port);
    return [name, { port, advertisedPort: links[name].port }] as const;
  };
  return Object.fromEntries(await Promise.all(LINKS.filter((name) => name !== 'mongodb').map(reserve)));
}

/** Opens the receivers of a run, and registers its configurations. Resolves when they are in force. */
export async function openReceivers(
  { authority }: Pick<Stack, 'authority'>,
  clientOf: (tenantId: string) => Client,
  dataDir: string,
  closers: Closer[],
) {
  /** Append-only file of the arrivals at all receivers. */
  const arrivalsFile = join(dataDir, 'arrivals.ndjson');
  const receivers = await openEach(RECEIVERS, (name) => openReceiver(name, arrivalsFile, authority), closers);
  const webhooks = planConfigurations().map(({ tenantId, ref, eventType, receiver, path }) => ({
    ...{ tenantId, ref, eventType },
    endpointUrl: `${receivers[receiver].origin}${path}`,
  }));
  await registerWebhooks(clientOf, webhooks);
  return { arrivalsFile, receivers };
}

/** Starts everything that a run breaks: real processes, engines and receivers, and the network between them. */
async function open(dataDir: string, print: Print, closers: Closer[]) {
  if (namedAddress('KAFKA_BROKERS') !== undefined || namedAddress('MONGODB_URI') !== undefined)
    throw new Error('chaos kills its engines: unset KAFKA_BROKERS and MONGODB_URI');
  const links = await openEach(LINKS, async () => openTcpProxy(await freePort()), closers);
  const stack = await startStack({
    ...{ dataDir, fixedPorts: false, tenants: TENANTS, log: print },
    overrides: { 'delivery-worker': WORKER_SETTINGS },
    proxies: {
      kafka: await reserveProxiedListeners(links),
      mongodb: (port) => {
        links.mongodb.forwardTo(port);
        return links.mongodb.port;
      },
    },
  });
  closers.push(() => stack.stop());
  const description = stack.description();
  await stack.fleet.startReplica({
    name: WORKERS[1],
    like: WORKERS[0],
    env: { KAFKA_BROKERS: `127.0.0.1:${links[WORKERS[1]].port}` },
  });
  const clientOf = (tenantId: string): Client => clientFor(stack.description(), tenantId);
  /** Every SIGKILL so far, by the name of the process. */
  const killed: string[] = [];
  return {
    ...{ stack, links, clientOf, killed },
    ...(await openReceivers(stack, clientOf, dataDir, closers)),
    /** The client that posts events of all tenants. */
    paymentSystem: clientFor(description, PAYMENT_SYSTEM),
    stop: () => closeAll(closers, 'the world'),
  };
}
export type World = Awaited<ReturnType<typeof open>>;

/** Starts everything; resolves when all configurations are in force. After a fault nothing is left running. */
export function openWorld(dataDir: string, print: Print): Promise<World> {
  const closers: Closer[] = [];
  return open(dataDir, print, closers).catch((error: unknown) =>
    closeAfterFault(closers, 'the world', error),
  );
}
