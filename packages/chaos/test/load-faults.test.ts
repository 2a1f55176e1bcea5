import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadFaults } from '../src/load-faults.js';

it('every file of the folder is a fault of its name, with a lane, a weight, targets and a length', async () => {
  const faults = await loadFaults();
  const files = readdirSync(join(import.meta.dirname, '..', 'src', 'faults'));
  expect(faults.map(({ name }) => `${name}.ts`)).toEqual(files.sort());
  expect(faults.length).toBeGreaterThanOrEqual(20);
  for (const { lane, weight, targets, lasts } of faults) {
    expect(['system', 'receivers']).toContain(lane);
    expect(weight).toBeGreaterThan(0);
    expect(targets.length).toBeGreaterThan(0);
    expect(lasts[0]).toBeLessThanOrEqual(lasts[1]);
    expect(lasts[1]).toBeLessThanOrEqual(60_000);
  }
});
