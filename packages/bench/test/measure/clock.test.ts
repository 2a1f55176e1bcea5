import { spawnSync } from 'node:child_process';
import { monotonicMicros } from '../../src/measure/clock.js';
import { entryOf } from '../../src/world/entry.js';

describe('monotonicMicros', () => {
  it('has the same zero in every process of the machine', () => {
    const program = `import(${JSON.stringify(entryOf('measure/clock.js'))}).then((m) => console.log(m.monotonicMicros()))`;
    const before = monotonicMicros();
    const child = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
    const after = monotonicMicros();
    expect(Number(child.stdout)).toBeGreaterThan(before);
    expect(Number(child.stdout)).toBeLessThan(after);
  });

  it('runs in microseconds', () => {
    const [from, wall] = [monotonicMicros(), performance.now()];
    while (performance.now() - wall < 5) continue;
    const passed = monotonicMicros() - from;
    expect(passed).toBeGreaterThanOrEqual(5_000);
    expect(passed).toBeLessThan(5_000_000);
  });
});
