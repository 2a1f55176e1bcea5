import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

export interface SeenAnswer {
  readonly method: string;
  /** Path as the document writes it, such as `/integration/v1/webhooks/{ref}`. */
  readonly path: string;
  readonly status: number;
  /** Value of `Content-Type`, with or without parameters; null when there was none. */
  readonly contentType: string | null;
  readonly body: unknown;
}

export interface OpenApiDocument {
  /** `METHOD /path` of every operation, sorted. */
  readonly operations: readonly string[];
  /** Every problem code that the document names, sorted. */
  readonly problemCodes: readonly string[];
  /** What of an answer the document does not allow; empty when it is as documented. */
  faultsOfAnswer(answer: SeenAnswer): readonly string[];
  /** What of a JSON request body the document does not allow. */
  faultsOfRequest(method: string, path: string, body: unknown): readonly string[];
}

type Node = Readonly<Record<string, unknown>>;

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options']);
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const child = (node: unknown, name: string): unknown => (isNode(node) ? node[name] : undefined);
const pointer = (...parts: readonly string[]): string =>
  parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Where a `$ref` inside the document leads; the path itself when there is none. */
function follow(root: unknown, parts: readonly string[]): readonly string[] {
  const node = parts.reduce(child, root);
  const ref = child(node, '$ref');
  return typeof ref === 'string' ? ref.slice(2).split('/') : parts;
}

function operationsOf(root: unknown): string[] {
  const paths = child(root, 'paths');
  if (!isNode(paths)) throw new Error('the document has no paths');
  return Object.entries(paths).flatMap(([path, item]) =>
    isNode(item)
      ? Object.keys(item).flatMap((method) =>
          METHODS.has(method) ? [`${method.toUpperCase()} ${path}`] : [],
        )
      : [],
  );
}

function problemCodesOf(root: unknown): string[] {
  const codes = ['components', 'schemas', 'Problem', 'properties', 'code', 'enum'].reduce(child, root);
  return Array.isArray(codes) ? codes.map(String) : [];
}

/** Reads an OpenAPI 3.1 document and holds requests and answers against it. Throws when the file is no such document. */
export function openApiDocument(file: string): OpenApiDocument {
  const root: unknown = parse(readFileSync(file, 'utf8'));
  if (!isNode(root)) throw new Error(`${file} is no OpenAPI document`);
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(root, 'document');
  const faults = (parts: readonly string[], body: unknown): readonly string[] => {
    if (parts.reduce(child, root) === undefined) return [`nothing is documented at ${pointer(...parts)}`];
    const validate = ajv.compile({ $ref: `document#${encodeURI(pointer(...parts))}` });
    return validate(body)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  };
  const operation = (method: string, path: string): readonly string[] => [
    'paths',
    path,
    method.toLowerCase(),
  ];
  return {
    operations: operationsOf(root).sort(),
    problemCodes: problemCodesOf(root).sort(),
    faultsOfAnswer: ({ method, path, status, contentType, body }) => {
      const answer = follow(root, [...operation(method, path), 'responses', String(status)]);
      if (answer.reduce(child, root) === undefined)
        return [`${method} ${path} is not documented to answer ${status}`];
      if (contentType === null)
        return child(answer.reduce(child, root), 'content') === undefined ? [] : ['the body is missing'];
      return faults([...answer, 'content', contentType.split(';')[0] ?? '', 'schema'], body);
    },
    faultsOfRequest: (method, path, body) =>
      faults([...operation(method, path), 'requestBody', 'content', 'application/json', 'schema'], body),
  };
}
