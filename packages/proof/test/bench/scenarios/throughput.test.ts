import { eventsOf } from '../../../src/bench/scenarios/throughput.js';

describe('the size of a throughput run', () => {
  const sizes = { count: 30_000, seconds: 4 };

  it('is the count for a quick receiver, and fewer events where each makes five deliveries', () => {
    expect(eventsOf({ fanOut: 1, delayMs: 0 }, sizes)).toBe(30_000);
    expect(eventsOf({ fanOut: 5, delayMs: 0 }, sizes)).toBe(13_416);
  });

  it('is what an endpoint can take in the time given for a slow one: 64 at once', () => {
    expect(eventsOf({ fanOut: 1, delayMs: 50 }, sizes)).toBe(5_120);
    expect(eventsOf({ fanOut: 5, delayMs: 250 }, sizes)).toBe(1_024);
  });
});
