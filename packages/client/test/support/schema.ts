/** A JSON Schema as the two documents write them. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly [constraint: string]: unknown;
}

/** What a local reference of a document, such as `#/components/schemas/Ref`, points to. */
export function pointedTo(document: unknown, reference: string): unknown {
  const names = reference.slice(2).split('/');
  const found = names.reduce((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
  if (found === undefined) throw new Error(`${reference} points to nothing`);
  return found;
}

/** A schema with everything that `$ref` and `allOf` add. */
export function resolved(document: unknown, { $ref, allOf = [], ...own }: Schema): Schema {
  const referred = $ref === undefined ? [] : [pointedTo(document, $ref) as Schema];
  const all: readonly Schema[] = [...[...referred, ...allOf].map((part) => resolved(document, part)), own];
  return {
    ...(Object.assign({}, ...all) as Schema),
    properties: Object.assign({}, ...all.map(({ properties }) => properties)) as Record<string, Schema>,
    required: all.flatMap(({ required = [] }) => required),
  };
}
