import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

export type Json = Readonly<Record<string, unknown>>;

export interface SeenResponse {
  readonly method: string;
  /** Path as the document writes it, such as `/integration/v1/webhooks/{ref}`. */
  readonly path: string;
  readonly status: number;
  /** Value of `Content-Type`, with or without parameters; null when there was none. */
  readonly contentType: string | null;
  readonly body: unknown;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** The steps of a pointer such as `#/paths/~1events` (RFC 6901). */
const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .slice(2)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Reads an OpenAPI 3.1 document. */
export function openApiDocument(file: string | URL) {
  const root = parse(readFileSync(file, 'utf8')) as Json;
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  ajv.addFormat('date-time', (text) => !Number.isNaN(Date.parse(text)));
  ajv.addFormat('uuid', UUID);
  ajv.addSchema({ ...root, $id: 'document' });
  const validators = new Map<string, ValidateFunction>();
  const find = (steps: readonly string[]): unknown =>
    steps.reduce<unknown>((node, step) => {
      const value = isObject(node) ? node[step] : undefined;
      const reference = isObject(value) ? value['$ref'] : undefined;
      return typeof reference === 'string' ? find(stepsOf(reference)) : value;
    }, root);
  /** Returns the object at a pointer, or at a path of names; follows references. Throws when there is none. */
  const at = (...steps: readonly string[]): Json => {
    const found = find(steps.flatMap((step) => (step.startsWith('#/') ? stepsOf(step) : step)));
    if (!isObject(found)) throw new Error(`the document has nothing at ${steps.join(' ')}`);
    return found;
  };
  /** Validates a value against a schema, or against the schema at a pointer. Returns the fault; undefined for a valid value. */
  const faultOf = (wanted: unknown, value: unknown): string | undefined => {
    const schema = typeof wanted === 'string' ? { $ref: wanted } : wanted;
    const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    const validate = validators.get(text) ?? ajv.compile(JSON.parse(text) as Json);
    validators.set(text, validate);
    return validate(value) ? undefined : `${JSON.stringify(value)}: ${ajv.errorsText(validate.errors)}`;
  };
  /** Returns how a response differs from the document; empty when it is as documented. */
  const faultsOf = ({ method, path, status, contentType, body }: SeenResponse): readonly string[] => {
    const response = ['paths', path, method.toLowerCase(), 'responses', String(status)];
    const content = find([...response, 'content', contentType?.split(';')[0] ?? '']);
    if (!isObject(content))
      return [`${method} ${path} has no documented response ${status} with ${contentType ?? 'nothing'}`];
    const fault = faultOf(content['schema'], body);
    return fault === undefined ? [] : [fault];
  };
  return { root, at, faultOf, faultsOf };
}
