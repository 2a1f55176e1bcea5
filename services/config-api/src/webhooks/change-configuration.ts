import { setTimeout as wait } from 'node:timers/promises';
import { databaseUnavailable } from '@webhooks/http-api';
import type { ConfigurationName } from '../publication/configuration-cache.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import { revise } from './configuration.js';
import type { Configuration } from './configuration.js';

/** A configuration before and after a request. For a repeated registration both are the same object. */
export interface Change {
  readonly before: Configuration | undefined;
  readonly after: Configuration;
}

/** How to find and change a configuration. */
export interface Plan {
  /** Finds the current configuration. Throws an `AppError` when there is none. */
  readonly find: () => Promise<Configuration>;
  /** Makes the next revision, even with equal values, so that the late write of a request that timed out fails. */
  readonly change: (current: Configuration) => Configuration;
  /** Called when the route of the next revision belongs to another configuration. */
  readonly onTaken: (next: Configuration) => Promise<never>;
}

/**
 * Most rounds. In each round one instance succeeds, and requests of one instance take turns. So this must exceed the
 * number of instances.
 */
const MAX_ROUNDS = 20;

/**
 * Repeats `once` until it returns a value, at most 20 times. Undefined means a conflict with another instance. The random
 * pause between rounds grows to 50 ms. Throws `database-unavailable` after the last round.
 */
export async function retryOnConflict<T>(once: () => Promise<T | undefined>, fault: string): Promise<T> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (round > 0) await wait(Math.random() * Math.min(5 * round, 50));
    const result = await once();
    if (result !== undefined) return result;
  }
  throw databaseUnavailable(new Error(`${fault} ${MAX_ROUNDS} times in a row`));
}

/** Reads, changes and writes a configuration by compare-and-set on `revision`. */
export const changeConfiguration = (
  { find, change, onTaken }: Plan,
  { replace }: Pick<ConfigurationStore, 'replace'>,
): Promise<Change> =>
  retryOnConflict(async () => {
    const before = await find();
    const after = change(before);
    const result = await replace(before, after);
    if (result === 'taken') return onTaken(after);
    return result === 'replaced' ? { before, after } : undefined;
  }, 'other requests changed the configuration');

/** The store of one request, and the clock. */
export interface StorePorts extends ConfigurationStore {
  readonly now: () => Date;
}

/** Changes a configuration, except its route. Throws 404 when there is none. */
export const changeOne = (
  name: ConfigurationName,
  change: (current: Configuration, now: Date) => Partial<Configuration>,
  ports: StorePorts,
): Promise<Change> =>
  changeConfiguration(
    {
      find: () => ports.get(name),
      change: (current, now = ports.now()) => revise(current, change(current, now), now),
      onTaken: () => Promise.reject(new Error('a change that keeps the route collided with another one')),
    },
    ports,
  );
