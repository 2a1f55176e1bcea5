import type { SourceHealth } from '@webhooks/kafka';
import { Gauge, repeat } from '@webhooks/runtime';
import type { Logger, ServiceScope } from '@webhooks/runtime';

/** What of a projection's health tells whether it reads at all. */
export type Membership = Pick<SourceHealth, 'joined' | 'inFlight' | 'lastProgressAt'>;
interface Watched {
  health(): Membership;
}
type Running = ReadonlyMap<string, Watched>;

const LOOK_MS = 1_000;
/** A rebalance takes some seconds, and meanwhile the documents answer as ever. */
const LOST_MS = 15_000;
/** A member that holds nothing and hears nothing for so long is stuck: only a restart helps. */
const STUCK_MS = 120_000;

/**
 * Notes since when each projection is not a member of its group, and says its beginning and its end in the log. To be
 * called about once a second; gives which have been none for more than 15 s. `now` in milliseconds of a clock that never
 * goes back.
 */
export function createNoteMembership(
  log: Logger,
  now: () => number,
): (running: Running) => readonly string[] {
  const since = new Map<string, number>();
  const note = (projection: string, joined: boolean): void => {
    const known = since.get(projection);
    if (joined && known !== undefined) {
      since.delete(projection);
      log.info('the projection is a member of its group again', { projection });
    }
    if (!joined && known === undefined) {
      since.set(projection, now());
      log.warn('the projection is not a member of its group: nothing is read', { projection });
    }
  };
  return (running) => {
    // A projection that ended, for a new generation, is no member and need not be one.
    for (const projection of since.keys()) if (!running.has(projection)) since.delete(projection);
    for (const [projection, one] of running) note(projection, one.health().joined);
    return [...since].filter(([, at]) => now() - at > LOST_MS).map(([projection]) => projection);
  };
}

/** What holds records waits for the database, which is watched by itself: no restart of this process would help. */
export function faultOfStuck(running: Running, now: number): string | undefined {
  const stuck = [...running].filter(([, one]) => {
    const { joined, inFlight, lastProgressAt } = one.health();
    return joined && inFlight === 0 && now - lastProgressAt > STUCK_MS;
  });
  return stuck.length === 0 ? undefined : `no progress: ${stuck.map(([name]) => name).join(', ')}`;
}

/** Shows whether each projection is a member of its group: a lost one has a lag of 0, for no partition is its own. */
export function watchMembership(running: () => Running, scope: ServiceScope): void {
  const { log, registry, health } = scope;
  new Gauge({
    name: 'query_projection_joined',
    help: 'Whether the projection is a member of its group',
    labelNames: ['projection'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [projection, one] of running()) this.set({ projection }, Number(one.health().joined));
    },
  });
  const note = createNoteMembership(log, () => performance.now());
  let lost: readonly string[] = [];
  const noting = repeat({
    name: 'watching the membership',
    everyMs: LOOK_MS,
    log,
    work: () => {
      lost = note(running());
      return Promise.resolve();
    },
  });
  scope.onClose('membership', () => noting.stop());
  health.readiness('projection groups', () =>
    lost.length === 0 ? undefined : `not a member of its group: ${lost.join(', ')}`,
  );
  health.liveness('projections', () => faultOfStuck(running(), performance.now()));
}
