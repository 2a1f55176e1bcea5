import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from '@readme/openapi-parser';
import { EVENT_TYPES } from '@webhooks/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

type Json = Readonly<Record<string, unknown>>;

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SERVICES = ['config-api', 'ingest', 'query-api'];
const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];
const GENERATOR = join(ROOT, 'packages/client/node_modules/openapi-typescript/bin/cli.js');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const COMMAND = 'node packages/tooling/merge-openapi.mjs';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const text = read('packages/client/openapi.yaml');
const notifications = read('packages/client/notifications.yaml');
const DOCUMENTS = [
  ['openapi.yaml', text],
  ['notifications.yaml', notifications],
] as const;
const parsed = (source: string): Json => parse(source) as Json;

function merge(...files: readonly string[]) {
  const parts = [join(ROOT, 'packages/tooling/merge-openapi.mjs'), '--print', ...files];
  const merged = spawnSync(process.execPath, parts, { encoding: 'utf8', timeout: 60_000 });
  const [calls = '', sent = ''] = merged.stdout.split('---\n');
  return { ...merged, calls, sent };
}

/** `METHOD path` of each operation with the scopes it needs, sorted. */
const operationsOf = ({ paths }: Json): readonly string[] =>
  Object.entries(paths as Readonly<Record<string, Readonly<Record<string, Json>>>>)
    .flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method];
        return operation ? [`${method} ${path} ${JSON.stringify(operation['security'])}`] : [];
      }),
    )
    .sort();

const ajv = new Ajv2020({ strict: false });

/** Every schema below a node: the document's own, and those that stand beside a parameter or a body. */
function schemasBelow(node: unknown, name = ''): readonly Json[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.entries(node as Json).flatMap(([member, value]) => schemasBelow(value, member));
  const own = name === 'schemas' ? Object.values(node as Json) : name === 'schema' ? [node] : [];
  return [...(own as readonly Json[]), ...inner];
}

/** The specification leaves the schemas inside a document to JSON Schema (2020-12). */
const faultsOfSchemas = (document: Json): readonly string[] =>
  schemasBelow(document).flatMap((schema) =>
    ajv.validateSchema(schema) === true ? [] : [ajv.errorsText(ajv.errors)],
  );

/** Faults of a document, which the validator may change as it likes; external references are never followed. */
async function faultsOf(document: Json): Promise<readonly string[]> {
  const result = await validate(structuredClone(document) as Parameters<typeof validate>[0], {
    resolve: { external: false },
  });
  return [...(result.valid ? [] : result.errors.map(({ message }) => message)), ...faultsOfSchemas(document)];
}

it('openapi.yaml and notifications.yaml are what the services describe now', () => {
  const { calls, sent, stderr } = merge();
  if (calls !== text || sent !== notifications)
    throw new Error(`a document of packages/client is stale: run ${COMMAND}\n${stderr}`);
});

describe.each(DOCUMENTS)('%s', (file, document) => {
  it('is valid OpenAPI 3.1', async () => {
    expect(parsed(document)['openapi']).toBe('3.1.0');
    expect(await faultsOf(parsed(document))).toEqual([]);
  });

  it('has an own place for every reference', () => {
    const references = [...document.matchAll(/\$ref: '#\/components\/([^/]+)\/([^']+)'/g)];
    const components = parsed(document)['components'] as Readonly<Record<string, Json>>;
    const dangling = references.filter(([, kind = '', name = '']) => components[kind]?.[name] === undefined);
    expect(references.length).toBeGreaterThan(10);
    expect(dangling.map(([reference]) => reference)).toEqual([]);
  });

  it('makes types with openapi-typescript, which compile', () => {
    const folder = mkdtempSync(join(tmpdir(), 'openapi-types-'));
    const types = join(folder, 'types.ts');
    try {
      for (const command of [
        [GENERATOR, join(ROOT, 'packages/client', file), '-o', types],
        [TSC, '--noEmit', '--strict', '--ignoreConfig', types],
      ])
        expect(spawnSync(process.execPath, command, { encoding: 'utf8', timeout: 60_000 })).toMatchObject({
          status: 0,
        });
      expect(readFileSync(types, 'utf8')).toContain('operations');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('openapi.yaml for integrators', () => {
  it('has only calls, because generators make calls of notifications, too', () => {
    expect(parsed(text)['webhooks']).toBeUndefined();
    expect(Object.keys(parsed(notifications)['webhooks'] as Json).length).toBeGreaterThan(EVENT_TYPES.length);
  });

  it('has every operation of every service, with its scopes', () => {
    const wanted = SERVICES.flatMap((name) => operationsOf(parsed(read(`services/${name}/openapi.yaml`))));
    expect(wanted.length).toBeGreaterThan(15);
    expect(operationsOf(parsed(text))).toEqual(wanted.sort());
  });

  it.each([
    ['an operation without answers', 'responses:', 'answers:'],
    ['a type that there is not', 'type: integer', 'type: whole'],
    ['two operations of one name', 'operationId: getWebhook', 'operationId: listWebhooks'],
    ['a path that names no parameter', '/pix/cob/{txId}', '/pix/cob/{other}'],
  ])('finds the fault of a document with %s', async (_, found, put) => {
    expect(text).toContain(found);
    expect(await faultsOf(parsed(text.replace(found, put)))).not.toEqual([]);
  });

  it('tags every operation with a tag that it describes', () => {
    const { tags, paths } = parsed(text) as { tags: readonly { name: string }[]; paths: Json };
    const known = tags.map(({ name }) => name);
    const items = Object.values(paths) as readonly Readonly<Record<string, { tags?: readonly string[] }>>[];
    const used = items.flatMap((item) =>
      METHODS.flatMap((method) => (item[method] ? [item[method].tags] : [])),
    );
    for (const own of used) expect(known).toEqual(expect.arrayContaining([...(own ?? ['none'])]));
    expect([...new Set(used.flat())].sort()).toEqual([...known].sort());
  });
});

describe('merging', () => {
  it('keeps once what two parts have in common', () => {
    const file = 'services/config-api/openapi.yaml';
    const { status, calls } = merge(file);
    expect(status).toBe(0);
    expect(operationsOf(parsed(calls))).toEqual(operationsOf(parsed(read(file))));
    const { Ref } = (parsed(text)['components'] as { schemas: Json }).schemas;
    expect(text.match(/^ {4}Ref:$/gm)).toHaveLength(1);
    expect(Ref).toEqual((parsed(read(file))['components'] as { schemas: Json }).schemas['Ref']);
  });

  it('is refused when one name means two things and no rename is given', () => {
    const { status, stdout, stderr } = merge(
      'services/config-api/openapi.yaml',
      'services/ingest/openapi.yaml',
    );
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('services/ingest/openapi.yaml: securitySchemes/accessToken is another one');
  });

  it('is refused when two operations have one name', () => {
    const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
    const other = join(folder, 'openapi.yaml');
    try {
      writeFileSync(other, 'paths: { /elsewhere: { get: { operationId: getWebhook } } }');
      const { status, stderr } = merge('services/config-api/openapi.yaml', other);
      expect(status).toBe(1);
      expect(stderr).toContain('two operations are called getWebhook');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
