import { formatCampaign, formatReport } from '../../src/chaos/report.js';
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

it('the page of several runs has a row for each and their sum, and says which has no verdict', () => {
  const page = formatCampaign(
    [
      { seed: 7, passed: false },
      { seed: 8, passed: true, result: RESULT },
      { seed: 9, passed: false, result: RESULT },
    ],
    'npm run chaos -- --seed 7 --seeds 3',
    'a machine',
  );
  expect(page).toContain('1 of 3 runs passed, on a machine.');
  expect(page).toContain('Seed 7 has no verdict.');
  expect(page).toContain('| 8 | true | 4 | 2 | 10 | 20 | 17 | 1 | 1 | 0 | 1 | 2 | 2600 | 1234 | 1 |');
  expect(page).toContain('| all |  | 8 | 4 | 20 | 40 | 34 | 2 | 2 | 0 | 2 | 4 | 2600 | 1234 | 2 |');
  expect(page).toContain('Kills: kafka 6, ingest 2');
  expect(page).toContain('npm run chaos -- --seed 7 --seeds 3');
});
