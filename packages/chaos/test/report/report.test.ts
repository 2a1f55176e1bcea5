import { formatCampaign } from '../../src/report/format-campaign.js';
import { countFaults, countKills, formatReport } from '../../src/report/report.js';
import type { ChaosResult } from '../../src/run-chaos.js';
import type { DoneStep } from '../../src/run-plan.js';

const step = (fault: string, target: string, over: Partial<DoneStep> = {}): DoneStep => ({
  lane: 'system',
  fault,
  target,
  startedAt: 1_000,
  takenBackAt: 1_000,
  endedAt: 3_500,
  outcome: 'done',
  ...over,
});
const STEPS = [
  step('kill', 'kafka'),
  step('kill', 'kafka', { endedAt: 9_000 }),
  step('kill', 'ingest', { outcome: 'passed-over', why: 'ingest is being started' }),
  step('kill-everything', 'everything'),
  step('freeze', 'mongodb'),
];
const RESULT: ChaosResult = {
  steps: STEPS,
  killed: ['kafka', 'ingest', 'kafka', 'kafka'],
  recoveryMs: 1_234,
  untested: [],
  leftOut: [],
  verdict: {
    totals: {
      ...{ acceptedEvents: 10, accepted: 20, delivered: 17, waiting: 1, dead: 1, cancelled: 0 },
      ...{ lost: 1, repeats: 2, bound: 9, slowestMs: 2_600 },
    },
    findings: [
      { kind: 'lost', text: 'evt_1 for /steady is nowhere', deliveryId: 'd1', story: ['given to ingest'] },
    ],
  },
};

describe('the report', () => {
  it('counts kills by process', () => {
    expect(countKills(RESULT.killed)).toEqual({ kafka: 3, ingest: 1 });
  });

  it('counts faults, what was passed over, and the longest time until up again', () => {
    expect(countFaults(STEPS)).toContainEqual({ fault: 'kill', done: 2, passedOver: 1, longestMs: 8_000 });
  });

  it('tells the ledger in its last line, and each finding with its story', () => {
    const lines = formatReport(RESULT);
    expect(lines.at(-1)).toBe('accepted=20 delivered=17 waiting=1 dead=1 cancelled=0 lost=1');
    expect(lines.at(-2)).toBe('recovery=1.2 s events=10 repeats=2 (bound 9) slowest=2.6 s');
    expect(lines).toContain('kills: 4 (kafka 3, ingest 1)');
    expect(lines).toContain('lost: evt_1 for /steady is nowhere');
    expect(lines).toContain('    given to ingest');
    expect(lines).toContain('  freeze             1 times, 2.5 s at most');
  });
});

describe('the page of several runs', () => {
  const page = formatCampaign(
    [
      { seed: 7, passed: true, result: RESULT },
      { seed: 8, passed: false, result: { ...RESULT, recoveryMs: 500 } },
      { seed: 9, why: 'the broker did not start' },
    ],
    { runs: 3, options: '--seed 7' },
  );

  it('has a row for each, and one for all with the longest recovery', () => {
    expect(page).toContain('| 7 | 1 | 4 | 1 | 10 | 20 | 17 | 1 | 1 | 0 | 1 | 2 | 9 | 1.2 | 1 |');
    expect(page).toContain('| all | 1 | 8 | 2 | 20 | 40 | 34 | 2 | 2 | 0 | 2 | 4 | 18 | 1.2 | 2 |');
  });

  it('says how many passed of how many, and which came to no verdict', () => {
    expect(page).toContain('1 of 3 runs passed.');
    expect(page).toContain('Seed 9 came to no verdict: the broker did not start');
  });

  it('counts kills by process and faults by kind, and tells how to repeat it', () => {
    expect(page).toContain('| kafka | 6 |');
    expect(page).toContain('| kill | 4 | 2 | 8.0 |');
    expect(page).toContain('npm run chaos -- --seed 7 --seeds 3');
  });
});
