import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ENDED_BY_ITSELF,
  PAYMENT_SYSTEM,
  allOrFirstFault,
  closeAfterFault,
  closeAll,
  freePort,
  startStack,
} from '@webhooks/local';
import type { Closer } from '@webhooks/local';
import { DATA_DIR, clientFor, startBalancer } from '@webhooks/testkit/account';
import type { Print } from '@webhooks/testkit/account';
import { TENANTS, WORKER_SETTINGS } from '../chaos/world/configurations.js';
import { openReceivers } from '../chaos/world/world.js';
import { INSTANCES, SERVICES } from './plan.js';
import type { Instance, Switch } from './plan.js';

/** Of each command: the archive of a revision has 20 MB, and a build takes two minutes here. */
const BOUNDS = { cwd: join(DATA_DIR, '..'), maxBuffer: 2 ** 30, timeout: 1_800_000 };

/** Returns the root of a built checkout of a revision, which is built once and kept by its commit. Throws when it cannot be built. */
export function buildRelease(revision: string, print: Print): string {
  const found = execFileSync('git', ['rev-parse', '--verify', `${revision}^{commit}`], BOUNDS);
  const commit = found.toString().trim();
  const checkout = join(DATA_DIR, 'releases', commit);
  // Written last: a build that was interrupted has none, and begins anew.
  const built = join(checkout, '.built');
  if (existsSync(built)) return checkout;
  print(`· building ${revision} in ${checkout}`);
  rmSync(checkout, { recursive: true, force: true });
  mkdirSync(checkout, { recursive: true });
  execFileSync('tar', ['-x', '-C', checkout], {
    ...BOUNDS,
    input: execFileSync('git', ['archive', commit], BOUNDS),
  });
  const build = ['packages/tooling/bootstrap.mjs', 'build'];
  execFileSync(process.execPath, build, { ...BOUNDS, cwd: checkout, stdio: 'inherit' });
  writeFileSync(built, '');
  return checkout;
}

export interface WorldOptions {
  readonly dataDir: string;
  /** Root of the old build. */
  readonly release: string;
  readonly print: Print;
}

/** Callers retry nothing, so no failure is hidden. */
const ONCE = { maxRetries: 0 };

async function open({ dataDir, release, print }: WorldOptions, closers: Closer[]) {
  const ended: string[] = [];
  const log = (line: string): void => {
    print(line);
    if (line.includes(ENDED_BY_ITSELF)) ended.push(line);
  };
  const stack = await startStack({
    ...{ dataDir, fixedPorts: false, forLoad: true, tenants: TENANTS },
    ...{ without: SERVICES, overrides: { 'delivery-worker': WORKER_SETTINGS }, log },
  });
  closers.push(() => stack.stop());
  const ports = await Promise.all(INSTANCES.map(() => freePort()));
  const backends = INSTANCES.map((one, index) => ({ ...one, host: `127.0.0.1:${ports[index] ?? 0}` }));
  const start = ({ service, instance }: Instance, checkout?: string) => {
    const { host = '' } = backends.find((one) => one.instance === instance) ?? {};
    // An API serves on for a second after SIGTERM, for what nginx accepted before its list changed.
    const env = { PORT: new URL(`http://${host}`).port, SHUTDOWN_DELAY_MS: '1000' };
    return stack.fleet.startReplica({ name: instance, like: service, env, checkout });
  };
  await allOrFirstFault(INSTANCES.map((instance) => start(instance, release)));
  const balancer = await startBalancer(join(dataDir, 'nginx'), backends);
  closers.push(() => balancer.stop());
  const { url } = balancer;
  const behind = { ...stack.description(), configApi: url, ingest: url, queryApi: url };
  const clientOf = (tenantId: string) => clientFor(behind, tenantId);
  return {
    ...{ stack, balancer, clientOf, ended },
    callerOf: (tenantId: string) => clientFor(behind, tenantId, ONCE),
    paymentSystem: clientFor(behind, PAYMENT_SYSTEM, ONCE),
    ...(await openReceivers(stack, clientOf, dataDir, closers)),
    /** Stops an instance, and starts the other build under its name. nginx sends it no calls meanwhile. */
    replace: async (wanted: Switch): Promise<void> => {
      await balancer.route(backends.filter(({ instance }) => instance !== wanted.instance));
      await stack.fleet.stop(wanted.instance);
      await start(wanted, wanted.to === 'old' ? release : undefined);
      await balancer.route(backends);
    },
    stop: () => closeAll(closers, 'the world'),
  };
}
export type UpgradeWorld = Awaited<ReturnType<typeof open>>;

/** Starts everything with the old build; resolves when all configurations are in force. After a fault nothing is left running. */
export function openUpgradeWorld(options: WorldOptions): Promise<UpgradeWorld> {
  const closers: Closer[] = [];
  return open(options, closers).catch((error: unknown) => closeAfterFault(closers, 'the world', error));
}
