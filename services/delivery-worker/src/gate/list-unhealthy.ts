import type { UnhealthyEndpoint } from './gate-types.js';
import type { Lane } from './lane.js';

/** Endpoints whose last attempts all failed, the longest failing first; `now` is monotonic. */
export function listUnhealthy(
  lanes: Iterable<Lane>,
  now: number,
  limit: number,
): readonly UnhealthyEndpoint[] {
  const failing = [...lanes].filter(({ breaker }) => breaker.failures > 0);
  failing.sort((a, b) => (a.failingSince ?? 0) - (b.failingSince ?? 0));
  return failing.slice(0, limit).map((lane) => describe(lane, now));
}

function describe(lane: Lane, now: number): UnhealthyEndpoint {
  const { breaker, tenant, ref, origin, failingSince, lastFailure } = lane;
  return {
    tenantId: tenant.tenantId,
    ref,
    origin,
    state: breaker.state,
    failuresInARow: breaker.failures,
    lastFailure,
    since: failingSince ?? 0,
    ...(breaker.isOpen ? { probeInMs: Math.max(0, Math.round(breaker.probeAt - now)) } : {}),
  };
}
