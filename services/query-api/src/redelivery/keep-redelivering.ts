import { setTimeout as wait } from 'node:timers/promises';
import { repeat } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { runPage } from './run-redeliveries.js';
import type { RunRedeliveriesPorts } from './run-redeliveries.js';

/** How often an instance looks for a job when there was none. */
const LOOK_MS = 500;

/** Works through the jobs of all tenants, a page of each in turn, at the rate of the ports, until the service closes. */
export function keepRedelivering(ports: () => RunRedeliveriesPorts, scope: ServiceScope): void {
  const running = repeat({
    name: 'redelivering',
    everyMs: LOOK_MS,
    log: scope.log,
    work: async (signal) => {
      for (;;) {
        const pauseMs = signal.aborted ? undefined : await runPage(ports());
        if (pauseMs === undefined) return;
        await wait(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    },
  });
  scope.onClose('redeliveries', () => running.stop());
}
