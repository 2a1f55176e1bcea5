import { Counter, Histogram, Registry, SeriesCounter, SeriesHistogram } from '../src/index.js';

const ATTEMPTS = { name: 'attempts_total', help: 'Attempts', labelNames: ['outcome', 'kind'] as const };
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
      ours.of({ outcome, kind: 'first' }).count += 1;
      ours.of({ kind: 'first', outcome }).count += 1;
      theirs.inc({ outcome, kind: 'first' }, 2);
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
    const ours = new SeriesHistogram({ ...SECONDS, labelNames: [], registers: [registry] }).of({});
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
    const ours = new SeriesHistogram({ ...SECONDS, labelNames: ['outcome'], registers: [registry] });
    const theirs = new Histogram({ ...SECONDS, labelNames: ['outcome'], registers: [reference] });
    for (const [at, seconds] of OBSERVED.entries()) {
      const labels = { outcome: at % 2 === 0 ? '2xx' : 'a "quoted" one' };
      ours.of(labels).observe(seconds);
      theirs.observe(labels, seconds);
    }
    expect(await registry.metrics()).toBe(await reference.metrics());
  });

  it.each([NaN, Infinity, -Infinity])('refuses %d, which would spoil its sum', (value) => {
    const series = new SeriesHistogram({ ...SECONDS, labelNames: [], registers: [] }).of({});
    expect(() => series.observe(value)).toThrow(TypeError);
  });

  it('refuses the label that tells its buckets apart', () => {
    const open = () => new SeriesHistogram({ ...SECONDS, labelNames: ['le'], registers: [] });
    expect(open).toThrow('le is no name');
  });

  it('refuses a name that is taken, as prom-client does', () => {
    const registers = [new Registry()];
    const open = () => new SeriesHistogram({ ...SECONDS, labelNames: [], registers });
    open();
    expect(open).toThrow('attempt_seconds');
  });
});
