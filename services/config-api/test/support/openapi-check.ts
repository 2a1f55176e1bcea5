import { isObject, openApiDocument } from '@webhooks/testkit';
import type { Json } from '@webhooks/testkit';

/** The document, with every `$ref` left in place in `openapi`. */
export const { root: openapi, at, faultOf } = openApiDocument(new URL('../../openapi.yaml', import.meta.url));

/** A request and its answer, as they went over the wire. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Parsed JSON; undefined when there was none. */
  readonly sent: unknown;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const escape = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
const schemaOf = (value: Json, pointer: string): string => {
  const { schema } = value;
  return isObject(schema) && typeof schema['$ref'] === 'string' ? schema['$ref'] : `${pointer}/schema`;
};

/** Where the document describes the operation; undefined when it knows no such path or method. */
function operationPointer({ method, path }: Exchange): string | undefined {
  const template = Object.keys(at('#/paths')).find((one) =>
    new RegExp(`^${one.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path),
  );
  if (template === undefined) return undefined;
  const item = `#/paths/${escape(template)}`;
  const name = method.toLowerCase();
  return name in at(item) ? `${item}/${name}` : undefined;
}

const expectFit = (pointer: string, value: unknown, what: string): void => {
  const fault = faultOf(pointer, value);
  if (fault !== undefined) throw new Error(`${what} is not as openapi.yaml says: ${fault}`);
};

/** What stands somewhere in the document, a reference followed. */
const resolved = (value: unknown): Json => {
  if (!isObject(value)) throw new Error('expected an object in openapi.yaml');
  return typeof value['$ref'] === 'string' ? at(value['$ref']) : value;
};

function checkHeader(name: string, header: Json, value: string | null): void {
  if (value === null) {
    if (header['required'] === true) throw new Error(`the header ${name} is missing`);
    return;
  }
  const schema = resolved(header['schema']);
  const typed = schema['type'] === 'integer' ? Number(value) : value;
  if (faultOf(schema, typed) !== undefined) throw new Error(`${name}: ${value} is not as openapi.yaml says`);
}

function checkHeaders(response: Json, { headers }: Exchange): void {
  for (const [name, header] of Object.entries(response['headers'] ?? {}))
    checkHeader(name, resolved(header), headers.get(name));
}

function checkBody(response: Json, pointer: string, { status, headers, text }: Exchange): void {
  if (!isObject(response['content'])) {
    if (text !== '') throw new Error(`${status} must not have a body, came ${text}`);
    return;
  }
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  const content = response['content'][type];
  if (!isObject(content)) throw new Error(`${status} is not described as ${type}`);
  expectFit(schemaOf(content, `${pointer}/content/${escape(type)}`), JSON.parse(text), 'the answer');
}

/** Whatever was answered with 2xx was asked for as the document says. */
function checkRequest(pointer: string, exchange: Exchange): void {
  if (exchange.status >= 300) return;
  const operation = at(pointer);
  const { requestBody } = operation;
  if (isObject(requestBody) && (requestBody['required'] === true || exchange.sent !== undefined)) {
    const content = at(`${pointer}/requestBody/content/application~1json`);
    expectFit(
      schemaOf(content, `${pointer}/requestBody/content/application~1json`),
      exchange.sent,
      'the request',
    );
  }
  const parameters = Array.isArray(operation['parameters']) ? operation['parameters'].filter(isObject) : [];
  const known = parameters.map(({ name }) => name);
  for (const name of exchange.query.keys()) {
    if (!known.includes(name)) throw new Error(`the parameter ${name} is not described and was accepted`);
  }
}

/** Where the document describes this answer; an operation that it does not know may only be 404 or 405. */
function answerPointer(operation: string | undefined, exchange: Exchange): string {
  const { method, path, status } = exchange;
  if (operation !== undefined) return `${operation}/responses/${status}`;
  if (status === 404) return '#/components/responses/NotFound';
  if (status === 405) return '#/components/responses/MethodNotAllowed';
  throw new Error(`${method} ${path} is not described and answered ${status}`);
}

/** Throws when an exchange is not as `openapi.yaml` describes it: status, headers, body, and what was accepted. */
export function checkExchange(exchange: Exchange): void {
  const operation = operationPointer(exchange);
  const pointer = answerPointer(operation, exchange);
  const response = at(pointer);
  checkHeaders(response, exchange);
  if (exchange.method !== 'HEAD') checkBody(response, pointer, exchange);
  if (operation !== undefined) checkRequest(operation, exchange);
}
