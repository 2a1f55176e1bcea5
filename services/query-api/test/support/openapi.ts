import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

export type Json = Readonly<Record<string, unknown>>;

const document = parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8')) as Json;
export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** What stands at a place, references followed. */
export function at(...steps: readonly string[]): Json {
  const found = steps.reduce<unknown>((node, step) => {
    const value = isObject(node) ? node[step] : undefined;
    const ref = isObject(value) ? value['$ref'] : undefined;
    return typeof ref === 'string' ? at(...ref.slice(2).split('/')) : value;
  }, document);
  if (!isObject(found)) throw new Error(`openapi.yaml has nothing at ${steps.join(' ')}`);
  return found;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('date-time', (text) => !Number.isNaN(Date.parse(text)));
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
ajv.addSchema({ ...document, $id: 'openapi.yaml' });

/** Why a value does not fit a schema of the document; undefined when it does. */
export function faultOf(wanted: unknown, value: unknown): string | undefined {
  const text = JSON.stringify(wanted).replaceAll('"#/', '"openapi.yaml#/');
  const validate = ajv.compile(JSON.parse(text) as Json);
  return validate(value) ? undefined : `${JSON.stringify(value)}: ${ajv.errorsText(validate.errors)}`;
}
