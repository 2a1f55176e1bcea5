import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../engine/free-port.js';
import { keepServiceRunning } from './keep-running.js';
import type { KeepOptions, KeptService } from './keep-running.js';
import type { ServicePlan } from './service-environments.js';

/** One more process of a service. */
export interface MoreOptions {
  /** A unique name such as `delivery-worker-2`; it can be used again after a stop. */
  readonly name: string;
  /** The service whose program and settings it takes. */
  readonly like: string;
  /** Settings that replace those. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `KAFKA_CLIENT_ID` of a process: two stacks on one Kafka, here or elsewhere, never replace each other's members. */
export const clientIdOf = (name: string, dataDir: string): string =>
  `${name}@${hostname()}:${resolve(dataDir)}`;

/** The services of a stack, by name. */
export function createFleet(plans: readonly ServicePlan[], dataDir: string, keep: KeepOptions) {
  const running: KeptService[] = [];
  const planOf = (name: string): ServicePlan => {
    const plan = plans.find((candidate) => candidate.name === name);
    if (!plan) throw new Error(`there is no service ${name}`);
    return plan;
  };
  const run = async (plan: ServicePlan, as: string): Promise<KeptService> => {
    const env = { KAFKA_CLIENT_ID: clientIdOf(as, dataDir), ...plan.env };
    const logFile = join(dataDir, 'logs', `${as}.log`);
    const kept = await keepServiceRunning({ ...plan, env, logFile }, keep);
    const service = Object.assign(kept, { name: as });
    running.push(service);
    keep.onRestart();
    return service;
  };
  const stop = async (name: string): Promise<void> => {
    const index = running.findIndex((service) => service.name === name);
    const [service] = index < 0 ? [] : running.splice(index, 1);
    await service?.stop();
    keep.onRestart();
  };
  return {
    services: running as readonly KeptService[],
    /** Starts a service of the plan with its planned settings; resolves when it is ready. */
    start: async (name: string) => run(planOf(name), name),
    /** Starts one more process like a service of the plan, on a free admin port. */
    startMore: async ({ name, like, env = {} }: MoreOptions) => {
      const plan = planOf(like);
      return run({ ...plan, adminPort: await freePort(), env: { ...plan.env, ...env } }, name);
    },
    /** SIGTERM to one service, which is not started again. Does nothing when it does not run. */
    stop,
    stopAll: async () => {
      await Promise.all(running.map((service) => service.stop()));
    },
  };
}
export type Fleet = ReturnType<typeof createFleet>;
