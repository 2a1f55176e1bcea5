import { formatReport } from '../../src/chaos/report.js';
import type { ChaosResult } from '../../src/chaos/run-chaos.js';
import type { DoneStep } from '../../src/chaos/plan.js';

const step = (fault: string, target: string, over: Partial<DoneStep> = {}): DoneStep => ({
  track: 'system',
  fault,
  target,
  startedAt: 1_000,
  takenBackAt: 1_000,
  endedAt: 3_500,
  outcome: 'done',
  ...over,
});
const RESULT: ChaosResult = {
  steps: [
    step('kill', 'kafka', { endedAt: 9_000 }),
    step('kill', 'ingest', { outcome: 'passed-over', why: 'ingest is being started' }),
    step('freeze', 'mongodb'),
  ],
  killed: ['kafka', 'ingest', 'kafka', 'kafka'],
  untested: [],
  verdict: {
    totals: {
      ...{ acceptedEvents: 10, accepted: 20, delivered: 17, waiting: 1, dead: 1, cancelled: 0 },
      ...{ lost: 1, repeats: 2, slowestMs: 2_600, recoveryMs: 1_234 },
    },
    findings: [
      {
        kind: 'lost',
        text: 'evt_1 for /steady is neither delivered nor waiting',
        timeline: ['sent to ingest'],
      },
    ],
  },
};

it('the report names the delivery account in its last line, and each finding with its timeline', () => {
  const lines = formatReport(RESULT);
  expect(lines.at(-1)).toBe('accepted=20 delivered=17 waiting=1 dead=1 cancelled=0 lost=1');
  expect(lines.at(-2)).toBe('recovery=1.2 s events=10 repeats=2 slowest=2.6 s');
  expect(lines).toContain('kills: 4 (kafka 3, ingest 1)');
  expect(lines).toContain('lost: evt_1 for /steady is neither delivered nor waiting');
  expect(lines).toContain('    sent to ingest');
  expect(lines).toContain('  kill                         1 times, 8.0 s at most, passed over 1');
});
