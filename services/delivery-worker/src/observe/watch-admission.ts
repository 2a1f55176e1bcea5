import { addGauge, Gauge } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import type { Admission } from '../admission/admission.js';
import type { EndpointState } from '../admission/endpoint-state.js';
import type { ConfigurationCache } from '../configurations/configuration-cache.js';

type Endpoints = () => readonly EndpointState[];

/** Most entries of each list on the page. */
const MAX_LISTED = 1_000;

function createGauges(admission: Admission, endpoints: Endpoints, { registry }: ServiceScope): void {
  addGauge(registry, 'webhook_attempts_in_flight', 'Attempts in flight', () => admission.stats().busy);
  const queued = 'Deliveries that wait in memory for a slot of their endpoint';
  addGauge(registry, 'webhook_deliveries_queued', queued, () => admission.stats().queued);
  new Gauge({
    name: 'webhook_endpoints',
    help: 'Endpoints that this worker remembers, by the state of their breaker',
    labelNames: ['breaker'],
    registers: [registry],
    collect() {
      for (const breaker of ['closed', 'open', 'probing']) this.set({ breaker }, 0);
      for (const { breaker } of endpoints()) this.inc({ breaker: breaker.state });
    },
  });
}

/** Client certificates of endpoints with recent attempts, sorted by expiry. */
const certificatesOf = (endpoints: readonly EndpointState[], configurations: ConfigurationCache['table']) =>
  endpoints
    .flatMap(({ tenant: { tenantId }, ref }) => {
      const notAfter = configurations.find(tenantId, ref)?.certificateNotAfter;
      return notAfter === undefined ? [] : { tenantId, ref, notAfter };
    })
    .sort((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter));

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** The entry of a failing endpoint in `/endpoints`. */
function describe({ tenant, ref, target, breaker, failingSince, lastFailure }: EndpointState) {
  const probeInMs = Math.max(0, breaker.probeAt - performance.now());
  return {
    tenantId: tenant.tenantId,
    ref,
    origin: target.origin,
    state: breaker.state,
    failuresInARow: breaker.failures,
    lastFailure,
    failingSince: timeOf(failingSince ?? Date.now()),
    ...(breaker.isOpen ? { nextProbeAt: timeOf(Date.now() + probeInMs) } : {}),
  };
}

function renderUnhealthy(endpoints: readonly EndpointState[]) {
  const failing = endpoints.filter(({ breaker }) => breaker.failures > 0);
  failing.sort((a, b) => (a.failingSince ?? 0) - (b.failingSince ?? 0));
  const unhealthy = failing.slice(0, MAX_LISTED).map(describe);
  const breakersOpen = failing.filter(({ breaker }) => breaker.isOpen).length;
  return { endpoints: endpoints.length, breakersOpen, listed: unhealthy.length, unhealthy };
}

/**
 * Registers the gauges of admission and the page `/endpoints`: which endpoints fail, why and since when, and when
 * client certificates expire. Disabled endpoints are left out.
 */
export function watchAdmission(
  admission: Admission,
  configurations: ConfigurationCache['table'],
  scope: ServiceScope,
): void {
  const endpoints: Endpoints = () =>
    [...admission.endpoints()].filter(
      ({ tenant, ref }) => configurations.find(tenant.tenantId, ref)?.enabled !== false,
    );
  createGauges(admission, endpoints, scope);
  const certificates = () => certificatesOf(endpoints(), configurations);
  const end = 'When the first certificate of an endpoint with attempts lately expires, Unix time';
  const firstEnd = (): number => {
    const [first] = certificates();
    return first === undefined ? Infinity : Date.parse(first.notAfter) / 1_000;
  };
  addGauge(scope.registry, 'webhook_endpoint_certificate_expiry_timestamp_seconds', end, firstEnd);
  const render = () => ({
    ...renderUnhealthy(endpoints()),
    certificates: certificates().slice(0, MAX_LISTED),
  });
  scope.addPage({ path: '/endpoints', render });
}
