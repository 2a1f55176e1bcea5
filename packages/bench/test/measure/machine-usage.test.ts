import { parseMachineTicks } from '../../src/measure/machine-usage.js';

describe('parseMachineTicks', () => {
  it('counts all but idle and waiting for input and output as busy, and guest time once', () => {
    const stat = 'cpu  100 1 50 800 40 2 3 4 60 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n';
    expect(parseMachineTicks(stat)).toEqual({ all: 1_000, busy: 160 });
  });
});
