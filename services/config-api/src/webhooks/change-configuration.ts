import { setTimeout as wait } from 'node:timers/promises';
import { databaseUnavailable } from '@webhooks/http-api';
import type { ConfigurationName } from '../publication/configuration-cache.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import { revise } from './configuration.js';
import type { Configuration } from './configuration.js';

/** A configuration before and after a request; the same object twice for a repeated registration. */
export interface Change {
  readonly before: Configuration | undefined;
  readonly after: Configuration;
}

/** What to change, and of what. */
export interface Plan {
  /** Finds the current configuration. Throws an `AppError` when there is none. */
  readonly find: () => Promise<Configuration>;
  /** Makes the next revision, even with equal values: a late write of a request that timed out then fails. */
  readonly change: (current: Configuration) => Configuration;
  /** Called when the route of the next revision belongs to another configuration. */
  readonly onTaken: (next: Configuration) => Promise<never>;
}

/**
 * One of the contenders wins each round, and those of one process take turns. So this is more than the number of
 * replicas.
 */
const MAX_ROUNDS = 20;

/**
 * Repeats `once` until it gives a value. Undefined means that others came in between; the random pause between rounds
 * grows to 50 ms.
 */
export async function untilAlone<T>(once: () => Promise<T | undefined>, fault: string): Promise<T> {
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
  untilAlone(async () => {
    const before = await find();
    const after = change(before);
    const result = await replace(before, after);
    if (result === 'taken') return onTaken(after);
    return result === 'replaced' ? { before, after } : undefined;
  }, 'the configuration was changed by others');

export interface ChangeOnePorts extends Pick<ConfigurationStore, 'get' | 'replace'> {
  readonly now: () => Date;
}

/** Changes a configuration without its route. Throws 404 when there is none. */
export const changeOne = (
  name: ConfigurationName,
  change: (current: Configuration, now: Date) => Partial<Configuration>,
  ports: ChangeOnePorts,
): Promise<Change> =>
  changeConfiguration(
    {
      find: () => ports.get(name),
      change: (current, now = ports.now()) => revise(current, change(current, now), now),
      onTaken: () => Promise.reject(new Error('a change that keeps the route collided with another one')),
    },
    ports,
  );
