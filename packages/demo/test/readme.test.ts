import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROBLEMS, RETRY_TIERS, TOPIC_TABLE } from '@webhooks/contracts';
import { PREFERRED_PORTS } from '@webhooks/stack';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const section = (title: string): string => readme.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

/** Names that the services' code asks a settings reader for. */
function settingNames(): string[] {
  const files = [
    'services/*/src/config.ts',
    'packages/{http-api,kafka,mongodb,runtime}/src/*settings.ts',
    'packages/runtime/src/run-service.ts',
  ];
  const text = files
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const asked =
    /\.(?:text|optionalText|optionalFile|list|integer|port|flag|developmentFlag|url|parsed)\(\s*'([A-Z_]+)'|'(KAFKA_TLS_[A-Z_]+)'/g;
  return [
    ...new Set(
      text.flatMap((source) => [...source.matchAll(asked)].map((match) => match[1] ?? match[2] ?? '')),
    ),
  ].sort();
}

const quoted = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''))].sort();

describe('the README', () => {
  it('lists every setting that a service reads, and no other', () => {
    const documented = quoted(
      section('Configuration').split('\n\nFor `npm start`')[0] ?? '',
      /`([A-Z][A-Z_]+)`/g,
    );
    expect(documented.filter((name) => name !== 'NAME_FILE')).toEqual(settingNames());
  });

  it('lists every problem code with its status', () => {
    const rows = [...section('Error codes').matchAll(/^\| `([a-z-]+)`\s+\| (\d{3})\s/gm)].map(
      ([, code, status]) => [code, Number(status)],
    );
    expect(rows.sort()).toEqual(
      Object.entries(PROBLEMS)
        .map(([code, { status }]) => [code, status])
        .sort(),
    );
  });

  it('lists every scope that an operation needs, and no other', () => {
    const documents = globSync('services/*/openapi.yaml', { cwd: ROOT });
    const text = documents.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
    const needed = quoted(text, /- accessToken: \[([a-z.]+)\]/g);
    expect(quoted(readme, /^\| `([a-z]+\.[a-z.]+)`\s+\| `(?:GET|POST)/gm)).toEqual(needed);
  });

  it('lists every topic', () => {
    const rows = quoted(section('Topics'), /`((?:payments|webhooks)\.[a-z0-9.-]+)`/g);
    const tiers = RETRY_TIERS.map(({ topic }) => topic);
    expect(rows).toEqual(
      [
        ...TOPIC_TABLE.map(({ name }) => name).filter((name) => !tiers.includes(name)),
        tiers[0],
        tiers.at(-1),
      ].sort(),
    );
  });

  it('names the ports of npm start', () => {
    for (const port of Object.values(PREFERRED_PORTS)) expect(section('Run it')).toContain(String(port));
  });

  it('names only files and folders that exist', () => {
    const paths = quoted(readme, /`((?:packages|services)\/[^`\s*…]+)`/g);
    expect(paths.filter((path) => globSync(path, { cwd: ROOT }).length === 0)).toEqual([]);
    expect(paths.length).toBeGreaterThan(5);
  });
});
