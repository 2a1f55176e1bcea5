import { setTimeout as wait } from 'node:timers/promises';
import { databaseUnavailable } from '@webhooks/http-api';
import type { ConfigurationName } from './configuration-cache.js';
import type { ConfigurationStore } from './configuration-store.js';
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
export const MAX_ROUNDS = 20;

/** A pause that grows to some 50 ms and is never the same for two contenders. */
export const pauseBefore = (round: number): Promise<void> =>
  wait(Math.random() * Math.min(5 * round, 50), undefined);

/**
 * Reads, changes and writes a configuration as if nobody else did (compare-and-set by `revision`); starts again when it
 * was changed in between, at most 20 times.
 */
export async function changeConfiguration(
  plan: Plan,
  ports: Pick<ConfigurationStore, 'replace'>,
): Promise<Change> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (round > 0) await pauseBefore(round);
    const before = await plan.find();
    const after = plan.change(before);
    switch (await ports.replace(before, after)) {
      case 'replaced':
        return { before, after };
      case 'taken':
        return plan.onTaken(after);
      case 'stale':
        continue;
    }
  }
  throw databaseUnavailable(
    new Error(`the configuration was changed by others ${MAX_ROUNDS} times in a row`),
  );
}

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
