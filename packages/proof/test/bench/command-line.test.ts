import { readUsage, usageText, SCENARIOS } from '../../src/bench/command-line.js';

const NAMES = ['reference', 'throughput', 'latency'];

describe('readUsage', () => {
  it('runs all scenarios, shortened, without arguments', () => {
    expect(readUsage([], NAMES)).toEqual({ names: NAMES, whole: false, sizes: {} });
  });

  it('takes scenarios in the order given, once each, with their sizes', () => {
    expect(readUsage(['latency', 'reference', 'latency', '--count', '500', '--seconds', '3'], NAMES)).toEqual(
      {
        names: ['latency', 'reference'],
        whole: false,
        sizes: { count: 500, seconds: 3 },
      },
    );
  });

  it('takes --whole for all', () => {
    expect(readUsage(['--whole'], NAMES)).toEqual({ names: NAMES, whole: true, sizes: {} });
  });

  it('shows help', () => {
    expect(readUsage(['latency', '--help'], NAMES)).toBe('help');
  });

  it('names a scenario that does not exist, and those that do', () => {
    expect(() => readUsage(['latncy'], NAMES)).toThrow(
      'unknown scenario latncy; there are: reference, throughput, latency',
    );
  });

  it.each(['0', '-1', '1.5', 'many', '99999999999', ''])('refuses --count %s', (count) => {
    expect(() => readUsage(['latency', `--count=${count}`], NAMES)).toThrow(
      '--count: expected a whole number',
    );
  });

  it('refuses sizes without a scenario, because they mean something else in each', () => {
    expect(() => readUsage(['--count', '5'], NAMES)).toThrow('name the ones you want');
  });

  it('refuses an option that it does not know', () => {
    expect(() => readUsage(['--conut', '5'], NAMES)).toThrow('--conut');
  });
});

describe('usageText', () => {
  it('names every scenario with what it does by default and in full', () => {
    const text = usageText(SCENARIOS).join('\n');
    for (const [name, { title }] of Object.entries(SCENARIOS)) {
      expect(text).toContain(name);
      expect(text).toContain(title);
    }
    expect(text).toContain('default 30,000, 4 s; with --whole 120,000, 60 s');
  });
});
