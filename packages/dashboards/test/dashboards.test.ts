import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliveries } from '../src/deliveries.js';
import { platform } from '../src/platform.js';
import { usOrThem } from '../src/us-or-them.js';

interface Drawn {
  readonly title: string;
  readonly description: string;
  readonly datasource: { readonly uid: string };
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const FILES = [usOrThem, deliveries, platform];
const DEPLOY = join(import.meta.dirname, '..', '..', '..', 'deploy');
const ALERTS = join(DEPLOY, 'prometheus', 'alerts.yaml');
const RULES = readFileSync(ALERTS, 'utf8');
const OPERATE = readFileSync(join(DEPLOY, 'README.md'), 'utf8');
const section = (title: string): string => OPERATE.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

const PANELS = FILES.flatMap(({ text }) => (JSON.parse(text) as { panels: Drawn[] }).panels);
const QUERIES = PANELS.flatMap(({ targets }) => targets.map(({ expr }) => expr));

/** The pages that the description of a panel names. */
const pagesOf = ({ description }: Drawn): string[] =>
  (/Runbook: (.*)\./.exec(description)?.[1] ?? '').split(', ').filter(Boolean);

/** The rows of the table of metrics. */
const METRICS = [...section('Metrics').matchAll(/^\| `(\w+)` *\| (\w+) *\|([^|]*)\|/gm)].map(
  ([, name = '', type = '', labels = '']) => ({
    name,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
    series: type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name],
  }),
);

/** The metrics that a query names: its words that are no label, no function and no operator. */
const metricsOf = (expr: string): string[] =>
  [
    ...expr
      .replaceAll(/\{.*?\}|\[.*?\]|\b(?:by|on|group_left) \(.*?\)/g, '')
      .matchAll(/[a-zA-Z_:][\w:]*(?![\w:]| *\()/g),
  ]
    .map(([word]) => word)
    .filter((word) => !['or', 'unless', 'offset', '__rate_interval', 'Inf'].includes(word));

describe('the dashboards', () => {
  it('are in deploy/dashboards as the source makes them', () => {
    const folder = join(DEPLOY, 'dashboards');
    expect(readdirSync(folder).sort()).toEqual(FILES.map(({ file }) => file).sort());
    for (const { file, text } of FILES) expect(readFileSync(join(folder, file), 'utf8')).toBe(text);
  });

  it('ask a question with each panel, once, and say the unit and what is normal', () => {
    expect(PANELS.filter(({ title }) => !/^[A-Z].*\?$/.test(title))).toEqual([]);
    expect(new Set(PANELS.map(({ title }) => title)).size).toBe(PANELS.length);
    for (const { description, datasource, fieldConfig } of PANELS) {
      expect(description).toMatch(/\.$/);
      expect(fieldConfig.defaults.unit).not.toBe('');
      expect(datasource.uid).toBe('$datasource');
    }
  });

  it('name only pages that the runbook has', () => {
    const entries = readdirSync(join(DEPLOY, 'runbook')).map((file) => file.replace('.md', ''));
    const named = PANELS.flatMap(pagesOf);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((entry) => !entries.includes(entry))).toEqual([]);
  });

  it('draw the limit of an alert as its rule has it', () => {
    const drawn = PANELS.flatMap((one) =>
      one.targets
        .filter(({ legendFormat }) => legendFormat.startsWith('alert'))
        .map(({ expr }) => ({ pages: pagesOf(one), limit: /^vector\((.*)\)$/.exec(expr)?.[1] ?? expr })),
    );
    const ruleOf = (page: string): string =>
      new RegExp(`- alert: ${page}\n +expr: (.*)`).exec(RULES)?.[1] ?? '';
    expect(drawn.length).toBeGreaterThan(5);
    for (const { pages, limit } of drawn)
      expect(pages.map(ruleOf).join('\n')).toMatch(new RegExp(`[<>]=? ${limit.replace('*', '\\*')}$`, 'm'));
  });

  it('read only metrics of the table, of Node, and of the alert rules', () => {
    const records = [...RULES.matchAll(/- record: (\S+)/g)].map(([, record]) => record);
    const known = new Set([...METRICS.flatMap(({ series }) => series), ...records, 'ALERTS']);
    const read = QUERIES.flatMap(metricsOf);
    expect(read.length).toBeGreaterThan(50);
    expect(read.filter((name) => !known.has(name) && !/^(?:process|nodejs)_/.test(name))).toEqual([]);
  });

  it('read every metric of the table that no alert reads', () => {
    const read = new Set([...QUERIES.flatMap(metricsOf), ...(RULES.match(/\w+/g) ?? [])]);
    const unread = METRICS.filter(({ series }) => !series.some((name) => read.has(name)));
    expect(unread).toEqual([]);
    expect(METRICS.length).toBeGreaterThan(40);
  });
});

/** Each metric of the table while nothing happens: 0, also of responses 5xx. */
const IDLE = METRICS.flatMap(({ labels, series }) =>
  series.map((name) => {
    const pairs = labels.map((label) => `,${label}="${label === 'service' ? 'ingest' : '5xx'}"`).join('');
    return { series: `${name}{job="j",instance="i",le="1.5"${pairs}}`, values: '0x60' };
  }),
);

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool) process.stdout.write('skipped: promtool is not on this machine\n');

const withPromtool = hasPromtool ? it : it.skip;

/** Has promtool evaluate queries ten minutes into these series. JSON is YAML, too. */
function evaluate(
  input_series: readonly object[],
  queries: readonly { expr: string; exp_samples: readonly object[] }[],
): void {
  const folder = mkdtempSync(join(tmpdir(), 'dashboards-'));
  const promql_expr_test = queries.map(({ expr, exp_samples }) => ({
    ...{ expr: expr.replaceAll('$__rate_interval', '1m'), eval_time: '10m', exp_samples },
  }));
  const test = { interval: '15s', input_series, promql_expr_test };
  writeFileSync(join(folder, 'test.yaml'), JSON.stringify({ rule_files: [ALERTS], tests: [test] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test.yaml'], { cwd: folder });
  rmSync(folder, { recursive: true });
  expect(String(stderr)).toBe('');
  expect(String(stdout)).toContain('SUCCESS');
  expect(status).toBe(0);
}

withPromtool('every query parses, and yields no NaN while nothing happens', () => {
  // Without its label matchers a query meets a series in any case. NaN alone differs from itself.
  const isNan = QUERIES.flatMap((query) => [query, query.replaceAll(/\{.*?\}/g, '')]).map((expr) => ({
    expr: `(${expr}) != (${expr})`,
    exp_samples: [],
  }));
  evaluate(IDLE, isNan);
});

withPromtool('a fault that happens once is counted, although its counter begins with it', () => {
  const series = [{ series: 'query_unreadable_records_total{reason="not-json"}', values: '_x40 1x20' }];
  const exprs = QUERIES.filter((expr) => expr.includes('query_unreadable_records_total'));
  expect(exprs).toHaveLength(1);
  const exp_samples = [{ labels: '{reason="not-json"}', value: 1 }];
  evaluate(
    series,
    exprs.map((expr) => ({ expr, exp_samples })),
  );
});
