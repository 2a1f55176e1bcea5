import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@webhooks/engines';
import { clientFor } from '@webhooks/ledger';
import type { Print } from '@webhooks/ledger';
import { closeAfterFault, closeAll, startStack } from '@webhooks/stack';
import type { Closer, Stack } from '@webhooks/stack';
import type { Client } from '@webhooks/client';
import { importOption, preloadSettings } from '../points/preload-settings.js';
import { CLOCKS_VARIABLE } from '../whims/clock.js';
import { NAME_SERVER_VARIABLE, RECEIVER_NAME, openNames } from '../whims/names.js';
import type { Names } from '../whims/names.js';
import { TcpProxy } from '../wire/tcp-proxy.js';
import { RECEIVERS, TENANTS } from './configurations.js';
import type { ReceiverName } from './configurations.js';
import { openDisks } from './disks.js';
import type { Disks } from './disks.js';
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
  /** Where it is said how wrong the clock of a process is. */
  readonly clocksDir: string;
  /** What the workers are told of the names of receivers. */
  readonly names: Names;
  /** Undefined when no fault wants them, or when nobody may mount here. */
  readonly disks: Disks | undefined;
  /** Where everything of the run lies. */
  readonly dataDir: string;
  stop(): Promise<void>;
}

export interface WorldOptions {
  /** Everything of the run. */
  readonly dataDir: string;
  readonly print: Print;
  /** The engines' data is to lie on disks of their own, where that can be had. */
  readonly withDisks: boolean;
}

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

type Whims = Pick<World, 'pointsDir' | 'clocksDir' | 'names'>;

/** Every service knows the points and has a clock of its own; workers ask the run's server for names. */
function settingsOf({ pointsDir, clocksDir, names }: Whims) {
  const points = preloadSettings(pointsDir);
  const all = {
    ...points,
    NODE_OPTIONS: [points['NODE_OPTIONS'], importOption('whims', 'preload.js')].join(' '),
    [CLOCKS_VARIABLE]: clocksDir,
  };
  return {
    'config-api': all,
    ingest: all,
    'delivery-worker': { ...all, [NAME_SERVER_VARIABLE]: names.address, ...WORKER_SETTINGS },
    'query-api': { ...all, REDELIVERIES_PER_SECOND: String(REDELIVERIES_PER_SECOND) },
  };
}

async function startServices(
  links: Record<LinkName, TcpProxy>,
  { dataDir, ...whims }: Whims & Pick<World, 'dataDir'>,
  print: Print,
): Promise<Stack> {
  const stack = await startStack({
    dataDir,
    fixedPorts: false,
    tenants: TENANTS,
    overrides: settingsOf(whims),
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
    const receiver = await openReceiver({
      ...{ host: name === 'named' ? RECEIVER_NAME : 'localhost', port: await freePort() },
      ...{ file, authority: stack.authority, usual },
    });
    closers.push(() => receiver.close());
    return [name, receiver];
  };
  const opened: Partial<Record<ReceiverName, Receiver>> = Object.fromEntries(
    await Promise.all(RECEIVERS.map(open)),
  );
  return opened as Record<ReceiverName, Receiver>;
}

async function openWhims(dataDir: string, closers: Closer[]): Promise<Whims> {
  const clocksDir = join(dataDir, 'clocks');
  mkdirSync(clocksDir);
  const names = await openNames();
  closers.push(() => names.close());
  return { pointsDir: join(dataDir, 'points'), clocksDir, names };
}

/** Told when there are none: the faults of disks are passed over then. */
async function tryDisks(dataDir: string, print: Print, closers: Closer[]): Promise<Disks | undefined> {
  try {
    const disks = await openDisks(dataDir);
    closers.push(() => disks.close());
    return disks;
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    print(`· no disks of their own for the engines, faults of disks are passed over: ${why}`);
    return undefined;
  }
}

async function open({ dataDir, print, withDisks }: WorldOptions, closers: Closer[]): Promise<World> {
  mkdirSync(dataDir, { recursive: true });
  const disks = withDisks ? await tryDisks(dataDir, print, closers) : undefined;
  const links = await openLinks(closers);
  const whims = await openWhims(dataDir, closers);
  const stack = await startServices(links, { dataDir, ...whims }, print);
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
    ...whims,
    disks,
    dataDir,
    stop: () => closeAll(closers, 'the world'),
  };
}

/** Brings everything up; on a fault nothing is left running. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const closers: Closer[] = [];
  try {
    return await open(options, closers);
  } catch (error) {
    return await closeAfterFault(closers, 'the world', error);
  }
}
