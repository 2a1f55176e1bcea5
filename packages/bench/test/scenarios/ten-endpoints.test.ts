import { RunLedger } from '../../src/measure/run-ledger.js';
import { flowOf } from '../../src/scenarios/ten-endpoints.js';

/** Ten events a second apart, each delivered `late` seconds after it was due. */
function ledgerOf(late: readonly number[]): RunLedger {
  const acceptances = late.map((_, index) => ({
    id: String(index),
    tenantId: 'acme',
    dueAt: index * 1_000_000,
    acknowledgedAt: index * 1_000_000,
  }));
  const ledger = new RunLedger(acceptances, [{ path: '/a', tenantId: 'acme' }]);
  for (const [index, seconds] of late.entries())
    ledger.note({ id: String(index), path: '/a', status: 200, firstByteAt: (index + seconds) * 1_000_000 });
  return ledger;
}

describe('flowOf', () => {
  const all = () => true;

  it('counts deliveries from the first event until the last delivery', () => {
    const flow = flowOf(ledgerOf([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), all);
    expect(flow.perSecond).toBeCloseTo(1);
  });

  it('counts what was not delivered when the last event was due', () => {
    expect(flowOf(ledgerOf([0, 0, 0, 0, 0]), all).backlog).toBe(0);
    expect(flowOf(ledgerOf([9, 0, 0, 9, 9]), all).backlog).toBe(3);
  });

  it('looks at the endpoints asked for only', () => {
    expect(flowOf(ledgerOf([9, 9]), (path) => path === '/b').backlog).toBe(0);
  });
});
