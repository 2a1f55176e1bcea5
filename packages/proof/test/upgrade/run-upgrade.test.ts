import { formatReport } from '../../src/upgrade/run-upgrade.js';

it('the report shows each switch, the findings and the calls', () => {
  const lines = formatReport({
    switches: [
      {
        ...{ service: 'delivery-worker', instance: 'delivery-worker-2', to: 'old' },
        ...{ ms: 4_100, gapMs: 2_345, repeats: 7 },
      },
    ],
    verdict: {
      totals: {
        ...{ acceptedEvents: 10, accepted: 20, delivered: 19, waiting: 0, dead: 1, cancelled: 0 },
        ...{ lost: 0, repeats: 7, slowestMs: 2_600, recoveryMs: 1_234 },
      },
      findings: [{ kind: 'failed-call', text: '503 GET /integration/v1/notifications' }],
    },
    ...{ calls: 44, redeliveries: 3, untested: [] },
  });
  expect(lines).toContain('delivery-worker  delivery-worker-2  old  4.1 s  2.3 s        7');
  expect(lines).toContain('failed-call: 503 GET /integration/v1/notifications');
  expect(lines.at(-1)).toBe('calls=44 failed=1 redeliveries=3');
});
