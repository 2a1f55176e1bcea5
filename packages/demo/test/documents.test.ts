import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FAILURE_CAUSES, PROBLEMS, RETRY_TIERS, TOPIC_ACCESS, TOPIC_TABLE } from '@webhooks/contracts';
import { PREFERRED_PORTS } from '@webhooks/local';
import { parse } from 'yaml';
import { readDescriptors, type Descriptor } from './read-descriptors.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const find = (...patterns: string[]): string[] => globSync(patterns, { cwd: ROOT }).sort();
const section = (file: string, title: string): string =>
  read(file).split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
/** Every first group that `pattern` finds, once, sorted. */
const found = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''))].sort();

const DOCUMENTS = find(
  '*.md',
  '.github/*.md',
  'deploy/*.md',
  'deploy/{identity,runbook}/*.md',
  'deploy/helm/*/*.md',
  '{packages,services}/*.md',
  '{packages,services}/*/*.md',
);
const CONTRACT = 'packages/contracts/README.md';
const OPERATE = 'deploy/README.md';

const SERVICES = find('services/*/package.json').map((file) => basename(dirname(file)));
const KIB = 1_024;

/** How the table of settings writes a default. */
function writtenDefault({ fallback, isRequired, type }: Descriptor): string {
  if (isRequired) return 'required';
  if (typeof fallback !== 'number') {
    const text = [fallback ?? ''].flat().join(',');
    return text === '' ? 'none' : `\`${text}\``;
  }
  return type === 'integer' && fallback >= KIB ** 2 ? `${fallback / KIB ** 2} MiB` : String(fallback);
}

/** Settings whose default the table describes in words. */
const IN_WORDS =
  /^(KAFKA_CLIENT_ID|KAFKA_TLS.*|KAFKA_SASL_.*|TOPICS_REPLICATION_FACTOR|\w+_BURST|GROUP_PREFIX)$/;

/** The first column of a table. */
const firstColumn = (text: string): string =>
  [...text.matchAll(/^\|([^|]*)\|/gm)].map((match) => match[1] ?? '').join('\n');

/** The anchors of a document's headings, as GitHub makes them. */
const anchorsOf = (file: string): string[] =>
  [...read(file).matchAll(/^#+ (.*)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

function isBroken(file: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : join(dirname(file), path);
  if (!existsSync(join(ROOT, target))) return true;
  return anchor !== undefined && !anchorsOf(target).includes(anchor);
}

/** `METHOD /path` of each operation of a service, as its README writes it. */
function operationsOf(openapi: string): string[] {
  const { paths } = parse(read(openapi)) as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => /^(get|post|put|delete)$/.test(method))
      .map((method) => `${method.toUpperCase()} ${path.replace('/integration/v1', '')}`),
  );
}

describe('the documents', () => {
  it('have a front page of at most 200 lines that names the ports of npm start', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(201);
    for (const port of Object.values(PREFERRED_PORTS))
      expect(section('README.md', 'Run it')).toContain(String(port));
  });

  it('list every setting that a service reads, and no other', async () => {
    const rows = firstColumn(section(OPERATE, 'Settings'));
    const read = (await Promise.all(SERVICES.map(readDescriptors))).flatMap((known) => [...known.keys()]);
    expect(found(rows, /`([A-Z][A-Z_]+)`/g)).toEqual([...new Set(read)].sort());
  });

  it.each(SERVICES)('have the default of each setting that %s reads', async (service) => {
    const rows = section(OPERATE, 'Settings').split('\n');
    const wrong = [...(await readDescriptors(service))].flatMap(([name, descriptor]) => {
      const [, , , cell = ''] = rows.find((row) => row.includes(`\`${name}\``))?.split('|') ?? [];
      const expected = writtenDefault(descriptor);
      return IN_WORDS.test(name) || cell.includes(expected)
        ? []
        : [`${name}: ${expected}, not ${cell.trim()}`];
    });
    expect(wrong).toEqual([]);
  });

  it('have the rights of each service in commands, and no other', () => {
    const commands = read('deploy/kafka.md').matchAll(/User:(\S+) (.*?) --topic (.*)$/gm);
    const rights = [...commands].flatMap(([, service, operations = '', topics = '']) =>
      topics
        .split(' --topic ')
        .map((topic) => `${service} ${operations.replaceAll('--operation ', '')} ${topic}`),
    );
    const table = Object.entries(TOPIC_ACCESS).flatMap(([service, topics]) =>
      Object.entries(topics).map(([topic, operations]) => `${service} ${operations.join(' ')} ${topic}`),
    );
    expect(rights.sort()).toEqual(table.sort());
  });

  it('list every metric of a service, and no other', () => {
    const sources = find(
      'services/*/src/**/*.ts',
      'packages/{cli,http-api,kafka,mongodb,outbound,runtime}/src/**/*.ts',
    );
    const names = found(
      sources.map(read).join('\n'),
      /(?:name: |(?:addGauge|addCounter|poolGauge)\(\s*[\w.]+,\s*|(?:gauge|seconds)\(\s*)'((?:build|canary|config_api|database|http|ingest|kafka|log|query|service|token|webhook)_[a-z_]+)'/g,
    );
    expect(found(firstColumn(section(OPERATE, 'Metrics')), /`([a-z_]+)`/g)).toEqual(names);
    expect(names.length).toBeGreaterThan(20);
  });

  it('list every problem code with its status', () => {
    const rows = [...section(CONTRACT, 'Error codes').matchAll(/^\| `([a-z-]+)`\s+\| (\d{3})\s/gm)];
    expect(rows.map(([, code, status]) => [code, Number(status)]).sort()).toEqual(
      Object.entries(PROBLEMS)
        .map(([code, { status }]) => [code, status])
        .sort(),
    );
  });

  it('list the cause of every class, code and status, as it is shown', () => {
    const rows = section(CONTRACT, 'Delivery rules').matchAll(/^\| `(\w+)`\s+\| (.*?)\s*\|$/gm);
    expect([...rows].map(([, kind, cause]) => [kind, cause])).toEqual([...FAILURE_CAUSES]);
    const source = /ErrorClass =(.*?);/s.exec(read('packages/outbound/src/pool/exchange.ts'))?.[1] ?? '';
    const classes = found(source, /'([A-Z_]+)'/g);
    expect(classes).toHaveLength(8);
    expect(classes.filter((name) => !FAILURE_CAUSES.has(name))).toEqual([]);
  });

  it('list every scope that an operation needs, and no other', () => {
    const needed = found(
      find('services/*/openapi.yaml').map(read).join('\n'),
      /- accessToken: \[([a-z.]+)\]/g,
    );
    expect(found(firstColumn(section(CONTRACT, 'Access tokens')), /`([a-z.]+)`/g)).toEqual(needed);
  });

  it('list every topic', () => {
    const tiers = RETRY_TIERS.map(({ topic }) => topic);
    const others = TOPIC_TABLE.map(({ name }) => name).filter((name) => !tiers.includes(name));
    const rows = firstColumn(section(CONTRACT, 'Topics'));
    expect(found(rows, /`([a-z0-9.-]+)`/g)).toEqual([...others, tiers[0], tiers.at(-1)].sort());
  });

  it('have a command for every operation of an API', () => {
    const missing = find('services/*/openapi.yaml').flatMap((openapi) => {
      const readme = read(join(dirname(openapi), 'README.md'));
      return operationsOf(openapi).filter(
        (operation) =>
          !new RegExp(`${operation.replaceAll(/[{}/]/g, String.raw`\$&`)}(?![\w/{])`).test(readme),
      );
    });
    expect(missing).toEqual([]);
  });

  it('name every package and service', () => {
    const map = firstColumn(read('packages/README.md')) + firstColumn(read('services/README.md'));
    const named = found(map, /[`[]([a-z-]+)[`\]]/g);
    expect(named).toEqual(
      find('{packages,services}/*/package.json')
        .map((file) => file.split('/')[1])
        .sort(),
    );
  });

  it('link only to what exists', () => {
    const broken = DOCUMENTS.flatMap((file) =>
      found(read(file), /\]\((?!https?:)([^)\s]+)\)/g)
        .filter((link) => isBroken(file, link))
        .map((link) => `${file}: ${link}`),
    );
    expect(broken).toEqual([]);
    expect(DOCUMENTS.length).toBeGreaterThan(10);
  });

  it('name only files and folders that exist', () => {
    const missing = DOCUMENTS.flatMap((file) =>
      found(read(file), /`((?:packages|services|deploy)\/[^`\s*…]+)`/g)
        .filter((path) => find(path).length === 0)
        .map((path) => `${file}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('cite nothing that is neither in the repository nor public, and neither do comments', () => {
    const sources = find('{packages,services}/*/{src,test}/**/*.ts', 'deploy/**/*', '*.yml', ...DOCUMENTS);
    const cites =
      /\b(?:contract|architecture|specification|spec|security notes) §|\b(?:domain|contract|security|engines|style)\.md\b/;
    expect(sources.filter((file) => /\.\w+$/.test(file) && cites.test(read(file)))).toEqual([]);
  });
});
