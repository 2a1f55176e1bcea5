import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const RULES = readFileSync(join(ROOT, 'deploy', 'prometheus', 'alerts.yaml'), 'utf8');

it('every metric that an alert reads is one that a service exports', () => {
  const used = [...RULES.matchAll(/\b(?:webhook|query|http|ingest|config)_[a-z_]+/g)].map(([name]) => name);
  const sources = globSync(['packages/*/src/**/*.ts', 'services/*/src/**/*.ts'], { cwd: ROOT });
  const told = sources.flatMap((file) =>
    [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(/'((?:webhook|query|http|ingest|config)_[a-z_]+)'/g),
    ].map(([, name]) => name),
  );
  expect(used.length).toBeGreaterThan(9);
  expect(used.filter((name) => !told.includes(name))).toEqual([]);
});

it('every alert has an entry in the runbook, and every entry an alert', () => {
  const runbook = readFileSync(join(ROOT, 'deploy', 'README.md'), 'utf8').split('\n## Runbook\n')[1] ?? '';
  const entries = [...(runbook.split('\n## ')[0] ?? '').matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  const alerts = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  expect(entries).toEqual(alerts);
});
