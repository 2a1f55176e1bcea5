import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { has, needs } from './tool.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PROMETHEUS = join(ROOT, 'deploy', 'prometheus');
const RULES = readFileSync(join(PROMETHEUS, 'alerts.yaml'), 'utf8');
const ALERTS = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
/** How the metrics of ours are called. */
const NAME = '(?:build|config|database|http|ingest|query|service|token|webhook)_[a-z_]+';

it('every metric that an alert reads is one that a service exports', () => {
  const used = [...RULES.matchAll(new RegExp(`(?<![:\\w])${NAME}`, 'g'))].map(([name]) =>
    name.replace(/_(?:bucket|count)$/, ''),
  );
  const sources = globSync(['packages/*/src/**/*.ts', 'services/*/src/**/*.ts'], { cwd: ROOT });
  const told = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(new RegExp(`'(${NAME})'`, 'g'))].map(
      ([, name]) => name,
    ),
  );
  expect(used.length).toBeGreaterThan(9);
  expect(used.filter((name) => !told.includes(name))).toEqual([]);
});

it('every alert has an entry in the runbook, and every entry an alert', () => {
  const runbook = readFileSync(join(ROOT, 'deploy', 'README.md'), 'utf8').split('\n## Runbook\n')[1] ?? '';
  const entries = [...(runbook.split('\n## ')[0] ?? '').matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(entries).toEqual(ALERTS);
});

const withPromtool = needs('promtool', has('promtool', '--version'));

withPromtool('every alert fires, and falls silent after its cause', () => {
  const tests = readFileSync(join(PROMETHEUS, 'alerts.test.yaml'), 'utf8');
  const tested = [...tests.matchAll(/- name: (\w+)/g)].map(([, name]) => name);
  expect(tested).toEqual(expect.arrayContaining(ALERTS));
  const { status, stdout } = spawnSync('promtool', ['test', 'rules', 'alerts.test.yaml'], {
    cwd: PROMETHEUS,
  });
  expect(String(stdout)).toContain('SUCCESS');
  expect(status).toBe(0);
});
