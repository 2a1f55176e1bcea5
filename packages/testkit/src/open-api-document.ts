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

const child = (node: unknown, name: string): unknown =>
  typeof node === 'object' && node !== null ? (node as Readonly<Record<string, unknown>>)[name] : undefined;
const escaped = (part: string): string => encodeURI(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Reads an OpenAPI 3.1 document. The function says what of an answer it does not allow; nothing when it is as documented. */
export function openApiDocument(file: string): (answer: SeenAnswer) => readonly string[] {
  const root = parse(readFileSync(file, 'utf8')) as object;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(root, 'document');
  return ({ method, path, status, contentType, body }) => {
    const own = ['paths', path, method.toLowerCase(), 'responses', String(status)];
    const ref = child(own.reduce<unknown>(child, root), '$ref');
    const answer = typeof ref === 'string' ? ref.slice(2).split('/') : own;
    const schema = [...answer, 'content', contentType?.split(';')[0] ?? '', 'schema'];
    if (schema.reduce<unknown>(child, root) === undefined)
      return [`${method} ${path} is not documented to answer ${status} with ${contentType ?? 'nothing'}`];
    const isValid = ajv.compile({ $ref: `document#/${schema.map(escaped).join('/')}` });
    return isValid(body) ? [] : [ajv.errorsText(isValid.errors)];
  };
}
