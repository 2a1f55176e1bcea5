import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { isUtcTime } from '../../src/index.js';

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

const file = new URL('../../asyncapi.yaml', import.meta.url);

/** `asyncapi.yaml` as text, and with every `$ref` left in place. */
export const text = readFileSync(file, 'utf8');
export const asyncapi = parse(text) as Json;

/** What stands at a place, references followed. */
export function at(...steps: readonly string[]): Json {
  const found = steps.reduce<unknown>((node, step) => {
    const value = isObject(node) ? node[step] : undefined;
    const ref = isObject(value) ? value['$ref'] : undefined;
    return typeof ref === 'string' ? at(...ref.slice(2).split('/')) : value;
  }, asyncapi);
  if (!isObject(found)) throw new Error(`asyncapi.yaml has nothing at ${steps.join(' ')}`);
  return found;
}

/** What the parser of AsyncAPI finds wrong with each document; throws when it cannot be asked. It takes two seconds to load. */
export function faultsOfDocuments(...documents: readonly string[]): readonly (readonly string[])[] {
  const script = new URL('validate-asyncapi.mjs', import.meta.url).pathname;
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    input: JSON.stringify(documents),
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`the parser of AsyncAPI failed: ${stderr}`);
  return JSON.parse(stdout) as readonly (readonly string[])[];
}

// A schema of AsyncAPI is JSON Schema draft 07 with more; `date-time` is what the code calls a time.
const ajv = new Ajv({ strict: false, allErrors: true, formats: { 'date-time': isUtcTime } });
ajv.addSchema({ ...asyncapi, $id: 'asyncapi.yaml' });

/** One record as it stands on a topic: the value parsed, headers as text. */
export interface Message {
  readonly key: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly value?: unknown;
}

function faultOf(schema: unknown, value: unknown): readonly string[] {
  if (schema === undefined) return [];
  const absolute = JSON.stringify(schema).replaceAll('"#/', '"asyncapi.yaml#/');
  const validate = ajv.compile(JSON.parse(absolute) as Json);
  return validate(value) ? [] : [ajv.errorsText(validate.errors)];
}

/** What of a record the document does not allow as this message; empty when it is as described. */
export function faultsOf(message: string, { key, headers = {}, value }: Message): readonly string[] {
  const described = asyncapi['components'] as { readonly messages: Readonly<Record<string, Json>> };
  const { headers: headerSchema, payload } = described.messages[message] ?? {};
  const { key: keySchema } = at('components', 'messages', message, 'bindings', 'kafka');
  return [...faultOf(keySchema, key), ...faultOf(headerSchema, headers), ...faultOf(payload, value)];
}

/** Every member name that a schema describes, of what it is made of too. */
export function membersOf(schema: Json): readonly string[] {
  const own = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const parts = Array.isArray(schema['allOf'])
    ? (schema['allOf'] as readonly { readonly $ref: string }[])
    : [];
  return [...own, ...parts.flatMap(({ $ref }) => membersOf(at(...$ref.slice(2).split('/'))))].sort();
}
