import { SCENARIOS } from '../src/scenarios/index.js';
import { formatAdvice, usageText } from '../src/usage-text.js';

describe('the texts about usage', () => {
  it('names every scenario with what it does by default and in full', () => {
    const text = usageText(SCENARIOS).join('\n');
    for (const [name, { title }] of Object.entries(SCENARIOS)) {
      expect(text).toContain(name);
      expect(text).toContain(title);
    }
    expect(text).toContain('default 100,000; with --whole 1,000,000');
  });

  it('says what there was no time for and how to run it', () => {
    const usage = { names: ['latency'], whole: false, sizes: {} };
    expect(formatAdvice(usage, ['backlog', 'memory'])[0]).toBe(
      'no time was left for: backlog, memory; run them with: npm run bench -- backlog memory',
    );
    expect(formatAdvice(usage, []).join('\n')).toContain('--whole');
    expect(formatAdvice({ ...usage, whole: true }, [])).toEqual([]);
  });
});
