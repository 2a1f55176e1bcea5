import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../engine/free-port.js';
import { keepServiceRunning } from './keep-running.js';
import type { KeepOptions, KeptService } from './keep-running.js';
import type { ServicePlan } from './service-environments.js';

/** A further process of a service. */
export interface ReplicaOptions {
  /** A unique name such as `delivery-worker-2`; it can be used again after a stop. */
  readonly name: string;
  /** The planned service whose program and settings are used. */
  readonly like: string;
  /** Settings that replace the planned ones; default none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Root of the built checkout whose program is used; default: this one. */
  readonly checkout?: string | undefined;
}

/**
 * `KAFKA_CLIENT_ID` of a process, unique by host and data directory. A starting process removes the group members with its own client id,
 * so no two stacks may share one.
 */
export const clientIdOf = (name: string, dataDir: string): string =>
  `${name}@${hostname()}:${resolve(dataDir)}`;

/** Creates the fleet of a stack, which starts and stops its services by name. */
export function createFleet(plans: readonly ServicePlan[], dataDir: string, keep: KeepOptions) {
  const running: KeptService[] = [];
  const planOf = (name: string): ServicePlan => {
    const plan = plans.find((candidate) => candidate.name === name);
    if (!plan) throw new Error(`there is no service ${name}`);
    return plan;
  };
  const run = async (plan: ServicePlan, as: string, checkout?: string): Promise<KeptService> => {
    const env = { KAFKA_CLIENT_ID: clientIdOf(as, dataDir), ...plan.env };
    const logFile = join(dataDir, 'logs', `${as}.log`);
    const options = { ...plan, program: plan.name, name: as, env, logFile, checkout };
    const service = await keepServiceRunning(options, keep);
    running.push(service);
    keep.onProcessesChanged();
    return service;
  };
  const stop = async (name: string): Promise<void> => {
    const index = running.findIndex((service) => service.name === name);
    const [service] = index < 0 ? [] : running.splice(index, 1);
    await service?.stop();
    keep.onProcessesChanged();
  };
  return {
    services: running as readonly KeptService[],
    /** Starts a service of the plan with its planned settings; resolves when it is ready. */
    start: async (name: string) => run(planOf(name), name),
    /**
     * Starts a further process of a planned service, on a free admin port, or the planned one with other settings. Resolves when it is
     * ready.
     */
    startReplica: async ({ name, like, env = {}, checkout }: ReplicaOptions) => {
      const plan = planOf(like);
      const adminPort = name === like ? plan.adminPort : await freePort();
      return run({ ...plan, adminPort, env: { ...plan.env, ...env } }, name, checkout);
    },
    /** Stops one service by SIGTERM; it is not restarted. Does nothing when it does not run. */
    stop,
    stopAll: async () => {
      await Promise.all(running.map((service) => service.stop()));
    },
  };
}
export type Fleet = ReturnType<typeof createFleet>;
