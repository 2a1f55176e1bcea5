import { Counter, Histogram, Registry, SeriesCounter, SeriesHistogram } from '../src/index.js';

const ATTEMPTS = { name: 'attempts_total', help: 'Attempts', labelNames: ['outcome'] };
const SECONDS = { name: 'attempt_seconds', help: 'Time of one', buckets: [0.001, 0.01, 0.1, 1] };
/** Below, at and above the bounds. */
const OBSERVED = [0, 0.0005, 0.001, 0.0011, 0.01, 0.5, 1, 1.5, 1e9];

describe('a counter of series', () => {
  it('is read like one of prom-client that counted the same', async () => {
    const registry = new Registry();
    const reference = new Registry();
    const ours = new SeriesCounter({ ...ATTEMPTS, registers: [registry] });
    const theirs = new Counter({ ...ATTEMPTS, registers: [reference] });
    for (const outcome of ['2xx', '5xx', '2xx', 'TLS']) {
      ours.of({ outcome }).count += 1;
      theirs.inc({ outcome });
    }
    expect(await registry.metrics()).toBe(await reference.metrics());
    // Read again: nothing is counted twice.
    expect(await registry.metrics()).toBe(await reference.metrics());
  });
});

describe('a histogram of series', () => {
  it('is read like one of prom-client that observed the same', async () => {
    const registry = new Registry();
    const reference = new Registry();
    const ours = new SeriesHistogram({ ...SECONDS, registers: [registry] }).of();
    const theirs = new Histogram({ ...SECONDS, registers: [reference] });
    for (const seconds of OBSERVED) {
      ours.observe(seconds);
      theirs.observe(seconds);
    }
    expect(await registry.metrics()).toBe(await reference.metrics());
  });

  it('has a line for each set of labels, as one of prom-client has', async () => {
    const registry = new Registry();
    const reference = new Registry();
    const ours = new SeriesHistogram({ ...SECONDS, registers: [registry] });
    const theirs = new Histogram({ ...SECONDS, labelNames: ['outcome'], registers: [reference] });
    for (const [at, seconds] of OBSERVED.entries()) {
      const labels = { outcome: at % 2 === 0 ? '2xx' : 'a "quoted" one' };
      ours.of(labels).observe(seconds);
      theirs.observe(labels, seconds);
    }
    expect(await registry.metrics()).toBe(await reference.metrics());
  });

  it('refuses a name that is taken, as prom-client does', () => {
    const registers = [new Registry()];
    const open = () => new SeriesHistogram({ ...SECONDS, registers });
    open();
    expect(open).toThrow('attempt_seconds');
  });
});
