import { neededPaths, owedCount } from '../../src/world/follow-run.js';
import type { RunPlan } from '../../src/world/run-plan.js';

const endpoint = (path: string, tenantId: string) => ({ path, tenantId, origin: '', ref: '' });

const planOf = (more: Partial<RunPlan>): RunPlan => ({
  events: { count: 10, seed: 1, tenants: ['a', 'b', 'c'] },
  door: { kind: 'topic', brokers: [] },
  pace: { kind: 'flood', underWay: 1 },
  endpoints: [endpoint('/a1', 'a'), endpoint('/a2', 'a'), endpoint('/b', 'b'), endpoint('/c', 'c')],
  ...more,
});

describe('what a run is owed', () => {
  it('is each tenant’s share of the events at each of its endpoints', () => {
    // 10 events round robin over three tenants: 4, 3 and 3.
    const plan = planOf({});
    expect(owedCount(plan, ['/a1'])).toBe(4);
    expect(owedCount(plan, ['/b', '/c'])).toBe(6);
    expect(owedCount(plan, neededPaths(plan))).toBe(4 + 4 + 3 + 3);
  });

  it('leaves out endpoints that may be down at the end', () => {
    const plan = planOf({ mayWait: (path) => path === '/c' });
    expect(neededPaths(plan)).toEqual(['/a1', '/a2', '/b']);
  });

  it('is nothing for an endpoint whose tenant gets no events', () => {
    expect(owedCount(planOf({ endpoints: [endpoint('/x', 'x')] }), ['/x'])).toBe(0);
  });
});
