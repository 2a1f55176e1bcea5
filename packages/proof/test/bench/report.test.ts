import {
  atLeast,
  atMost,
  figure,
  formatNumber,
  formatRun,
  formatSummary,
  verdictOf,
} from '../../src/bench/report.js';
import type { RunReport } from '../../src/bench/report.js';

const report: RunReport = {
  scenario: 'throughput',
  run: 'fan-out 1',
  account: 'accepted=100 delivered=100 waiting=0 duplicates=0 refused=0 lost=0',
  figures: [
    figure('deliveries each second', 6_543.2, '1/s'),
    figure('share of the reference', 49.4, '%', atLeast(50)),
    figure('memory', 250, 'MiB', atMost(300)),
  ],
  usage: {
    count: 100,
    each: 'delivery',
    processes: [
      { name: 'delivery-worker', cpuMicros: 4_250, wakeUps: 300, calls: 1_200, bytes: 640_000, peakMib: 120 },
    ],
  },
};

describe('the table', () => {
  it('shows each figure with its unit, its bar and whether it was met', () => {
    expect(formatRun(report)).toEqual([
      '',
      'throughput: fan-out 1',
      '  accepted=100 delivered=100 waiting=0 duplicates=0 refused=0 lost=0',
      '  deliveries each second  6,543  1/s',
      '  share of the reference   49.4  %    ≥ 50.0 %   missed',
      '  memory                    250  MiB  ≤ 300 MiB  met',
      '    for each delivery  CPU µs  wake-ups  calls  bytes  MiB at most',
      '    delivery-worker      42.5      3.00   12.0  6,400          120',
    ]);
  });

  it('closes with every bar and what is void', () => {
    const lines = formatSummary([report], [{ scenario: 'latency', run: 'half', why: 'why' }]);
    expect(lines).toEqual([
      '',
      'bars: 1 met, 1 missed; void runs: 1',
      '  missed  throughput: fan-out 1  share of the reference   49.4 %  ≥ 50.0 %',
      '  met     throughput: fan-out 1  memory                  250 MiB  ≤ 300 MiB',
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
    expect(verdictOf({ value: 1, bar: undefined })).toBe('');
  });
});
