import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const RULES = readFileSync(join(ROOT, 'deploy', 'prometheus', 'alerts.yaml'), 'utf8');

it('every metric that an alert looks at is one that a service has', () => {
  const used = [...RULES.matchAll(/\b(?:webhook|query|http|ingest)_[a-z_]+/g)].map(([name]) => name);
  const sources = globSync(['packages/*/src/**/*.ts', 'services/*/src/**/*.ts'], { cwd: ROOT });
  const told = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/'((?:webhook|query|http|ingest)_[a-z_]+)'/g)].map(
      ([, name]) => name,
    ),
  );
  expect(used.length).toBeGreaterThan(9);
  expect(used.filter((name) => !told.includes(name))).toEqual([]);
});
