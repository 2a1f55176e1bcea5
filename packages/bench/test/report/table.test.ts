import { atLeast, atMost, verdictOf } from '../../src/report/figure.js';
import type { RunReport } from '../../src/report/figure.js';
import { formatNumber, formatRun, formatSummary, formatVoid } from '../../src/report/table.js';

const MIB = 1_048_576;
const report: RunReport = {
  scenario: 'throughput',
  run: 'fan-out 1',
  ledger: 'accepted=100 delivered=100 duplicates=0 refused=0 lost=0',
  figures: [
    { name: 'deliveries each second', value: 6_543.2, unit: '1/s' },
    { name: 'share of the reference', value: 49.4, unit: '%', bar: atLeast(50) },
    { name: 'memory', value: 250, unit: 'MiB', bar: atMost(300), worstOnly: true },
  ],
  usage: {
    deliveries: 100,
    processes: [
      {
        name: 'delivery-worker',
        cpuMicros: 4_250,
        rssBytes: 100 * MIB,
        peakBytes: 120 * MIB,
        grownBytes: 1_500,
      },
    ],
  },
};

describe('the table', () => {
  it('shows each figure with its unit, its bar and whether it was met', () => {
    expect(formatRun(report)).toEqual([
      '',
      'throughput: fan-out 1',
      '  accepted=100 delivered=100 duplicates=0 refused=0 lost=0',
      '  deliveries each second  6,543  1/s',
      '  share of the reference   49.4  %    ≥ 50.0 %   missed',
      '  memory                    250  MiB  ≤ 300 MiB  met',
      '    for each delivery  CPU µs  bytes  MiB at the end  MiB at most',
      '    delivery-worker      42.5   15.0             100          120',
    ]);
  });

  it('shows of a void run its reason and no figure', () => {
    const lines = formatVoid({ scenario: 'latency', run: 'half', why: '1 of 300 deliveries are missing' });
    expect(lines).toEqual(['', 'latency: half', '  void: 1 of 300 deliveries are missing']);
  });

  it('closes with every bar, only the worst one of a kind that every run has, and what is void', () => {
    const worse = {
      ...report,
      run: 'fan-out 5',
      figures: [{ ...report.figures[2], value: 310 }],
    } as RunReport;
    const lines = formatSummary([report, worse], [{ scenario: 'latency', run: 'half', why: 'why' }]);
    expect(lines).toEqual([
      '',
      'bars: 0 met, 2 missed; void runs: 1',
      '  missed  throughput: fan-out 1  share of the reference   49.4 %  ≥ 50.0 %',
      '  missed  throughput: fan-out 5  memory                  310 MiB  ≤ 300 MiB',
      '  void    latency: half: why',
    ]);
  });

  it.each([
    [0, '0'],
    [0.0421, '0.042'],
    [4.214, '4.21'],
    [42.14, '42.1'],
    [421.4, '421'],
    [1_234_567, '1,234,567'],
    [-3.2, '-3.20'],
    [NaN, '–'],
    [Infinity, '–'],
  ])('writes %d as %s', (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });

  it('takes a value on the bar as met and no number as missed', () => {
    expect(verdictOf({ value: 50, bar: atLeast(50) })).toBe('met');
    expect(verdictOf({ value: 50, bar: atMost(50) })).toBe('met');
    expect(verdictOf({ value: 50.1, bar: atMost(50) })).toBe('missed');
    expect(verdictOf({ value: NaN, bar: atMost(50) })).toBe('missed');
    expect(verdictOf({ value: NaN, bar: atLeast(50) })).toBe('missed');
    expect(verdictOf({ value: 1 })).toBeUndefined();
  });
});
