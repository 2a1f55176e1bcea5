import { setTimeout as wait } from 'node:timers/promises';
import { databaseUnavailable } from '@webhooks/http-api';
import type { ConfigurationName } from '../publication/configuration-cache.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import { revise } from './configuration.js';
import type { Configuration } from './configuration.js';

/** A configuration before and after a request; the same object twice when a registration was repeated. */
export interface Change {
  readonly before: Configuration | undefined;
  readonly after: Configuration;
}

/** What to change, and of what. */
export interface Plan {
  /** The configuration as it is now; throws an `AppError` when there is none. */
  readonly find: () => Promise<Configuration>;
  /** The next revision, also when its values are the same: a write that timed out may still come, and finds it gone. */
  readonly change: (current: Configuration) => Configuration;
  /** The route of the next revision belongs to another configuration. */
  readonly onTaken: (next: Configuration) => Promise<never>;
}

/** Each round one of the contenders wins, and those of one process take turns: more rounds than replicas and some. */
const MAX_ROUNDS = 20;

/** What `once` gives; undefined when others came in between: then again, after a pause that grows to some 50 ms and is never the same for two. */
export async function untilAlone<T>(once: () => Promise<T | undefined>, fault: string): Promise<T> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (round > 0) await wait(Math.random() * Math.min(5 * round, 50));
    const result = await once();
    if (result !== undefined) return result;
  }
  throw databaseUnavailable(new Error(`${fault} ${MAX_ROUNDS} times in a row`));
}

/** Reads, changes and writes a configuration as if nobody else did (compare-and-set by `revision`). */
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

/** Changes what does not decide the route of the configuration that a caller names; throws 404 when there is none. */
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
