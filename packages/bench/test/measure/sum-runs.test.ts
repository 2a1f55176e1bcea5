import { sumRuns } from '../../src/measure/sum-runs.js';
import type { RunSums } from '../../src/measure/sum-runs.js';

const run = (factor: number, over: Partial<RunSums> = {}): RunSums => ({
  totals: { accepted: factor, delivered: 2 * factor, duplicates: 3 * factor, refused: factor, strangers: 0 },
  waiting: factor,
  seconds: factor,
  usage: [
    { name: 'delivery-worker', cpuMicros: 10 * factor, rssBytes: factor, peakBytes: 5, grownBytes: factor },
    { name: 'kafka', cpuMicros: factor, rssBytes: 7, peakBytes: 9 - factor, grownBytes: -factor },
  ],
  othersPercent: 10 * factor,
  ...over,
});

it('adds up what runs did and used, process by process', () => {
  expect(sumRuns([run(1), run(3)])).toEqual({
    totals: { accepted: 4, delivered: 8, duplicates: 12, refused: 4, strangers: 0 },
    waiting: 4,
    seconds: 4,
    usage: [
      { name: 'delivery-worker', cpuMicros: 40, rssBytes: 3, peakBytes: 5, grownBytes: 4 },
      { name: 'kafka', cpuMicros: 4, rssBytes: 7, peakBytes: 8, grownBytes: -4 },
    ],
    // What others took counts for as long as a run took.
    othersPercent: 25,
  });
});

it('leaves one run as it is', () => {
  expect(sumRuns([run(2)])).toEqual(run(2));
});
