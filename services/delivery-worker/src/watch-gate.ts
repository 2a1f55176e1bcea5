import { Gauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import type { Gate } from './gate/gate-types.js';

const MAX_LISTED = 1_000;

function createGauges(gate: Gate, { registry }: ServiceScope): void {
  const registers = [registry];
  new Gauge({
    name: 'webhook_attempts_in_flight',
    help: 'Attempts under way',
    registers,
    collect() {
      this.set(gate.stats().busy);
    },
  });
  new Gauge({
    name: 'webhook_deliveries_queued',
    help: 'Deliveries that wait in memory for a slot of their endpoint',
    registers,
    collect() {
      this.set(gate.stats().queued);
    },
  });
  new Gauge({
    name: 'webhook_endpoints',
    help: 'Endpoints that this worker remembers, by the state of their breaker',
    labelNames: ['breaker'],
    registers,
    collect() {
      const { lanes, open, probing } = gate.stats();
      this.set({ breaker: 'open' }, open);
      this.set({ breaker: 'probing' }, probing);
      this.set({ breaker: 'closed' }, lanes - open - probing);
    },
  });
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** Shows the gate to operators: its gauges, and the page `/endpoints` that lists who fails, how and since when. */
export function watchGate(gate: Gate, scope: ServiceScope): void {
  createGauges(gate, scope);
  scope.addPage({
    path: '/endpoints',
    render: () => {
      const now = Date.now();
      const { open, probing, lanes } = gate.stats();
      const unhealthy = gate.unhealthy(MAX_LISTED).map(({ since, probeInMs, ...endpoint }) => ({
        ...endpoint,
        failingSince: timeOf(since),
        ...(probeInMs === undefined ? {} : { nextProbeAt: timeOf(now + probeInMs) }),
      }));
      return { endpoints: lanes, breakersOpen: open + probing, listed: unhealthy.length, unhealthy };
    },
  });
}
