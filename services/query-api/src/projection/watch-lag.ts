import { Gauge, repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import type { RunningProjection } from './open-projection.js';
import { createTellLag } from './tell-lag.js';

const LOOK_MS = 1_000;

type Watched = Pick<RunningProjection, 'health'>;

/** Shows how far behind each projection is, as metrics and in the log; needs neither the database nor the broker. */
export function watchLag(running: () => ReadonlyMap<string, Watched>, scope: ServiceScope): void {
  const gauge = (name: string, help: string, value: (projection: Watched) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['projection'],
      registers: [scope.registry],
      collect() {
        this.reset();
        for (const [projection, one] of running()) this.set({ projection }, value(one));
      },
    });
  };
  gauge('query_projection_lag_records', 'Records that are not projected yet', (one) => one.health().lag);
  gauge(
    'query_projection_lag_seconds',
    'Age of the oldest record that was read and is not projected',
    (one) => one.health().oldestAgeMs / 1_000,
  );
  const tell = createTellLag(scope.log, () => performance.now());
  const telling = repeat({
    name: 'telling the lag',
    everyMs: LOOK_MS,
    log: scope.log,
    work: () => {
      for (const [projection, one] of running()) tell(projection, one.health());
      return Promise.resolve();
    },
  });
  scope.onClose('lag', () => telling.stop());
}
