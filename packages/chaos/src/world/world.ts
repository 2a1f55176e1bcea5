import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@webhooks/engines';
import { clientFor } from '@webhooks/ledger';
import type { Print } from '@webhooks/ledger';
import { startStack } from '@webhooks/stack';
import type { Stack } from '@webhooks/stack';
import type { Client } from '@webhooks/client';
import { preloadSettings } from '../points/preload-settings.js';
import { TcpProxy } from '../wire/tcp-proxy.js';
import { RECEIVERS, TENANTS } from './configurations.js';
import type { ReceiverName } from './configurations.js';
import { openReceiver } from './receiver.js';
import type { Receiver } from './receiver.js';
import { REDELIVERIES_PER_SECOND } from './redeliver.js';
import type { BegunRedelivery } from './redeliver.js';
import { isStubborn } from './stubborn.js';
import { WORKER_SETTINGS } from './settings.js';
import { startWorker } from './workers.js';

/** Links of the services to the engines, each a proxy of its own: all but the last lead to the broker. */
export const LINKS = [
  'config-api',
  'ingest',
  'delivery-worker',
  'delivery-worker-2',
  'query-api',
  'mongodb',
] as const;
export type LinkName = (typeof LINKS)[number];

/** What a run breaks: real processes, real engines, real receivers, and the wires between them. */
export interface World {
  readonly stack: Stack;
  readonly links: Readonly<Record<LinkName, TcpProxy>>;
  readonly receivers: Readonly<Record<ReceiverName, Receiver>>;
  /** Append-only: what arrived at the receivers. */
  readonly arrivalsFile: string;
  readonly clientOf: (tenantId: string) => Client;
  /** Every SIGKILL so far, by the name of the process. */
  readonly killed: string[];
  /** Every job so far that sends deliveries again. */
  readonly redeliveries: BegunRedelivery[];
  /** Where a point is armed at which a process is to die. */
  readonly pointsDir: string;
  /** Where everything of the run lies. */
  readonly dataDir: string;
  stop(): Promise<void>;
}

type Closer = () => Promise<void>;

async function openLinks(closers: Closer[]): Promise<Record<LinkName, TcpProxy>> {
  const open = async (name: LinkName): Promise<[LinkName, TcpProxy]> => {
    const proxy = await TcpProxy.open(await freePort());
    closers.push(() => proxy.close());
    return [name, proxy];
  };
  const opened: Partial<Record<LinkName, TcpProxy>> = Object.fromEntries(await Promise.all(LINKS.map(open)));
  return opened as Record<LinkName, TcpProxy>;
}

/** The broker has a port of its own for each link, and names the link's to whoever comes through it. */
async function kafkaDetours(links: Record<LinkName, TcpProxy>) {
  const detour = async (name: LinkName) => {
    const port = await freePort();
    links[name].leadTo(port);
    return [name, { port, advertisedPort: links[name].port }] as const;
  };
  return Object.fromEntries(await Promise.all(LINKS.filter((name) => name !== 'mongodb').map(detour)));
}

/** Every service knows the points. */
function settingsOf(pointsDir: string) {
  const points = preloadSettings(pointsDir);
  return {
    'config-api': points,
    ingest: points,
    'delivery-worker': { ...points, ...WORKER_SETTINGS },
    'query-api': { ...points, REDELIVERIES_PER_SECOND: String(REDELIVERIES_PER_SECOND) },
  };
}

async function startServices(
  links: Record<LinkName, TcpProxy>,
  { dataDir, pointsDir }: Pick<World, 'dataDir' | 'pointsDir'>,
  print: Print,
): Promise<Stack> {
  const stack = await startStack({
    dataDir,
    fixedPorts: false,
    tenants: TENANTS,
    overrides: settingsOf(pointsDir),
    detours: {
      kafka: await kafkaDetours(links),
      mongodb: (port) => {
        links.mongodb.leadTo(port);
        return links.mongodb.port;
      },
    },
    log: print,
  });
  return stack;
}

async function openReceivers(
  stack: Stack,
  file: string,
  closers: Closer[],
): Promise<Record<ReceiverName, Receiver>> {
  const open = async (name: ReceiverName): Promise<[ReceiverName, Receiver]> => {
    const usual =
      name === 'stubborn' ? { answer: ({ id }: { id: string }) => (isStubborn(id) ? 500 : 200) } : {};
    const receiver = await openReceiver({ port: await freePort(), file, authority: stack.authority, usual });
    closers.push(() => receiver.close());
    return [name, receiver];
  };
  const opened: Partial<Record<ReceiverName, Receiver>> = Object.fromEntries(
    await Promise.all(RECEIVERS.map(open)),
  );
  return opened as Record<ReceiverName, Receiver>;
}

async function closeAll(closers: Closer[]): Promise<void> {
  const faults: unknown[] = [];
  for (let close = closers.pop(); close; close = closers.pop())
    await close().catch((error: unknown) => faults.push(error));
  if (faults.length > 0) throw new Error('the world did not stop in order', { cause: faults[0] });
}

async function open(dataDir: string, print: Print, closers: Closer[]): Promise<World> {
  mkdirSync(dataDir, { recursive: true });
  const links = await openLinks(closers);
  const pointsDir = join(dataDir, 'points');
  const stack = await startServices(links, { dataDir, pointsDir }, print);
  closers.push(() => stack.stop());
  if (stack.kafka.kind !== 'embedded' || stack.description().processes['mongodb'] === undefined)
    throw new Error('chaos kills its engines: unset KAFKA_BROKERS, MONGODB_URI and ENGINES');
  await startWorker({ stack, links }, 'delivery-worker-2');
  const arrivalsFile = join(dataDir, 'arrivals.ndjson');
  const receivers = await openReceivers(stack, arrivalsFile, closers);
  return {
    stack,
    links,
    receivers,
    arrivalsFile,
    clientOf: (tenantId) => clientFor(stack.clientOf(tenantId), stack.description()),
    killed: [],
    redeliveries: [],
    pointsDir,
    dataDir,
    stop: () => closeAll(closers),
  };
}

/** Brings everything up; on a fault nothing is left running. */
export async function openWorld(dataDir: string, print: Print): Promise<World> {
  const closers: Closer[] = [];
  try {
    return await open(dataDir, print, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}
