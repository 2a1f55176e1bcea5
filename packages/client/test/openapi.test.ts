import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from '@readme/openapi-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

type Json = Readonly<Record<string, unknown>>;

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SERVICES = ['config-api', 'ingest', 'query-api'];
const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];
const COMMAND = 'node packages/tooling/merge-openapi.mjs';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const text = read('packages/client/openapi.yaml');
const parsed = (source: string): Json => parse(source) as Json;

const merge = (...files: readonly string[]) =>
  spawnSync(process.execPath, [join(ROOT, 'packages/tooling/merge-openapi.mjs'), '--print', ...files], {
    encoding: 'utf8',
    timeout: 60_000,
  });

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

describe('openapi.yaml for integrators', () => {
  it('is what the services describe now', () => {
    const { stdout, stderr } = merge();
    if (stdout !== text) throw new Error(`packages/client/openapi.yaml is stale: run ${COMMAND}\n${stderr}`);
  });

  it('has every operation of every service, with its scopes', () => {
    const wanted = SERVICES.flatMap((name) => operationsOf(parsed(read(`services/${name}/openapi.yaml`))));
    expect(wanted.length).toBeGreaterThan(15);
    expect(operationsOf(parsed(text))).toEqual(wanted.sort());
  });

  it('is valid OpenAPI 3.1', async () => {
    expect(parsed(text)['openapi']).toBe('3.1.0');
    expect(await faultsOf(parsed(text))).toEqual([]);
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

  it('has an own place for every reference', () => {
    const references = [...text.matchAll(/\$ref: '#\/components\/([^/]+)\/([^']+)'/g)];
    const components = parsed(text)['components'] as Readonly<Record<string, Json>>;
    const dangling = references.filter(([, kind = '', name = '']) => components[kind]?.[name] === undefined);
    expect(references.length).toBeGreaterThan(100);
    expect(dangling.map(([reference]) => reference)).toEqual([]);
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
    const { status, stdout } = merge(file);
    expect(status).toBe(0);
    expect(operationsOf(parsed(stdout))).toEqual(operationsOf(parsed(read(file))));
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
