import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { has, needs } from './tool.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PROMETHEUS = join(ROOT, 'deploy', 'prometheus');
const RULES = readFileSync(join(PROMETHEUS, 'alerts.yaml'), 'utf8');
/** Every first group that `pattern` finds. */
const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group = '']) => group);
const ALERTS = found(RULES, /- alert: (\w+)/g);
/** The code of all packages and services. */
const CODE = globSync(['packages/*/src/**/*.ts', 'services/*/src/**/*.ts'], { cwd: ROOT })
  .map((file) => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n');
/** How the metrics of ours are called. */
const NAME = '(?:build|canary|config|database|http|ingest|query|service|token|webhook)_[a-z_]+';

it('every metric that an alert reads is one that a service exports', () => {
  const used = [...RULES.matchAll(new RegExp(`(?<![:\\w])${NAME}`, 'g'))].map(([name]) =>
    name.replace(/_(?:bucket|count|sum)$/, ''),
  );
  const told = found(CODE, new RegExp(`'(${NAME})'`, 'g'));
  expect(used.length).toBeGreaterThan(9);
  expect(used.filter((name) => !told.includes(name))).toEqual([]);
});

const README = readFileSync(join(ROOT, 'deploy', 'README.md'), 'utf8');
const RUNBOOK = join(ROOT, 'deploy', 'runbook');

it('every alert has a page in the runbook and a row of its table, and every page an alert', () => {
  expect(found(README, /^\| \[(\w+)\]\(runbook\/\1\.md\)/gm)).toEqual(ALERTS);
  expect(readdirSync(RUNBOOK).sort()).toEqual(ALERTS.map((alert) => `${alert}.md`).sort());
});

/** Names with an underscore: no function, no part of a recording rule, none of the process or of Node. */
const METRIC = /(?<![:\w])(?!process_|nodejs_)([a-z]+(?:_[a-z]+)+)\b(?!:| ?\()/g;
const METRICS = found(README.split('\n## Metrics\n')[1] ?? '', /^\| `([a-z_]+)`/gm);

it.each(ALERTS)('the page of %s has its parts, and names only metrics and log lines that exist', (alert) => {
  const page = readFileSync(join(RUNBOOK, `${alert}.md`), 'utf8');
  const parts = [`# ${alert}`, '## What it means', '## Look', '## Do', '## It worked when'];
  expect(found(page, /^(##? .*)$/gm)).toEqual(parts);
  expect(page.split('\n## ')[2]).toMatch(/^```promql\n.*^```sh\n/ms);
  const names = found(page, METRIC).map((name) => name.replace(/_(?:bucket|count|sum)$/, ''));
  expect(names.filter((name) => !METRICS.includes(name))).toEqual([]);
  expect(found(page, /grep '(\w[^'"]*)'/g).filter((line) => !CODE.includes(line))).toEqual([]);
});

const withPromtool = needs('promtool', has('promtool', '--version'));

withPromtool('every alert fires, and falls silent after its cause', () => {
  const tests = readFileSync(join(PROMETHEUS, 'alerts.test.yaml'), 'utf8');
  const tested = found(tests, /- name: (\w+)/g);
  expect(tested).toEqual(expect.arrayContaining(ALERTS));
  const { status, stdout } = spawnSync('promtool', ['test', 'rules', 'alerts.test.yaml'], {
    cwd: PROMETHEUS,
  });
  expect(String(stdout)).toContain('SUCCESS');
  expect(status).toBe(0);
});
