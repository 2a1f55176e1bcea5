import { Gauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import type { EndpointState } from '../admission/endpoint-state.js';
import type { Admission } from '../admission/admission.js';

const MAX_LISTED = 1_000;

function createGauges(admission: Admission, { registry }: ServiceScope): void {
  const registers = [registry];
  new Gauge({
    name: 'webhook_attempts_in_flight',
    help: 'Attempts under way',
    registers,
    collect() {
      this.set(admission.stats().busy);
    },
  });
  new Gauge({
    name: 'webhook_deliveries_queued',
    help: 'Deliveries that wait in memory for a slot of their endpoint',
    registers,
    collect() {
      this.set(admission.stats().queued);
    },
  });
  new Gauge({
    name: 'webhook_endpoints',
    help: 'Endpoints that this worker remembers, by the state of their breaker',
    labelNames: ['breaker'],
    registers,
    collect() {
      const { endpoints, open, probing } = admission.stats();
      this.set({ breaker: 'open' }, open);
      this.set({ breaker: 'probing' }, probing);
      this.set({ breaker: 'closed' }, endpoints - open - probing);
    },
  });
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** What `/endpoints` shows of one whose last attempts all failed. */
function describe({ tenant, ref, origin, breaker, failingSince, lastFailure }: EndpointState) {
  const probeInMs = Math.max(0, breaker.probeAt - performance.now());
  return {
    tenantId: tenant.tenantId,
    ref,
    origin,
    state: breaker.state,
    failuresInARow: breaker.failures,
    lastFailure,
    failingSince: timeOf(failingSince ?? Date.now()),
    ...(breaker.isOpen ? { nextProbeAt: timeOf(Date.now() + probeInMs) } : {}),
  };
}

function renderUnhealthy(admission: Admission): unknown {
  const failing = [...admission.endpoints()].filter(({ breaker }) => breaker.failures > 0);
  failing.sort((a, b) => (a.failingSince ?? 0) - (b.failingSince ?? 0));
  const unhealthy = failing.slice(0, MAX_LISTED).map(describe);
  const { open, probing, endpoints } = admission.stats();
  return { endpoints, breakersOpen: open + probing, listed: unhealthy.length, unhealthy };
}

/** Shows admission to operators: its gauges, and the page `/endpoints` that lists who fails, how and since when. */
export function watchAdmission(admission: Admission, scope: ServiceScope): void {
  createGauges(admission, scope);
  scope.addPage({ path: '/endpoints', render: () => renderUnhealthy(admission) });
}
