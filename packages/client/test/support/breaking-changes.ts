import { pointedTo, resolved } from './schema.js';
import type { Schema } from './schema.js';

type Node = Readonly<Record<string, unknown>>;
/** Who reads what the schema describes: we (a request, which must stay accepted), or others (a response, which must stay readable). */
type Reader = 'we' | 'others';

const node = (value: unknown): Node => (typeof value === 'object' && value !== null ? (value as Node) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** A document, whose references are followed. */
class Document {
  readonly root: Node;
  constructor(root: unknown) {
    this.root = node(root);
  }
  at(value: unknown): Node {
    const { $ref } = node(value);
    return typeof $ref === 'string' ? this.at(pointedTo(this.root, $ref)) : node(value);
  }
  schema(value: unknown): Schema {
    return resolved(this.root, node(value));
  }
}

/** What the documents say differently to the harm of somebody who relies on the released one. */
class Comparison {
  readonly found: string[] = [];
  private readonly released: Document;
  private readonly now: Document;

  constructor(released: unknown, now: unknown) {
    this.released = new Document(released);
    this.now = new Document(now);
  }

  /** Calls `compare` for each member of the released node; one that is not there any more is found out. */
  private each(
    place: string,
    [released, now]: readonly [unknown, unknown],
    compare: (place: string, released: Node, now: Node) => void,
  ): void {
    const current = this.now.at(now);
    for (const [name, value] of Object.entries(this.released.at(released))) {
      const inner = `${place} ${name}`.trim();
      if (current[name] === undefined) this.found.push(`${inner}: was removed`);
      else compare(inner, this.released.at(value), this.now.at(current[name]));
    }
  }

  openApi(): readonly string[] {
    const [old, now] = [this.released.root, this.now.root];
    for (const [part, ours] of [
      ['paths', true],
      ['webhooks', false],
    ] as const)
      this.each('', [old[part], now[part]], (path, was, is) => {
        const operations = Object.fromEntries(Object.entries(was).filter(([name]) => name !== 'parameters'));
        this.each(path, [operations, is], (place, before, after) => {
          const given = [was, before].flatMap((one) => list(one['parameters']));
          const taken = [is, after].flatMap((one) => list(one['parameters']));
          const reader = ours ? 'we' : 'others';
          this.parameters(place, given, taken, reader);
          this.body(place, before['requestBody'], after['requestBody'], reader);
          if (ours) this.responses(place, before['responses'], after['responses']);
          this.scopes(place, before['security'], after['security']);
        });
      });
    return this.found;
  }

  asyncApi(): readonly string[] {
    const [old, now] = [this.released.root, this.now.root];
    const written = Object.values(node(old['operations']))
      .map(node)
      .filter(
        ({ action, tags }) =>
          action === 'send' && list(tags).some((tag) => node(tag)['name'] === 'payment-system'),
      )
      .map(({ channel }) => node(channel)['$ref']);
    this.each('', [old['channels'], now['channels']], (channel, was, is) => {
      if (was['address'] !== is['address']) this.found.push(`${channel}: has another address`);
      this.each(channel, [was['messages'], is['messages']], (message, before, after) => {
        for (const part of ['payload', 'headers']) {
          const place = `${message} ${part}`;
          if (before[part] === undefined) continue;
          this.schema(place, before[part], after[part], 'others');
          if (written.includes(`#/channels/${channel}`)) this.schema(place, before[part], after[part], 'we');
        }
      });
    });
    return this.found;
  }

  private parameters(place: string, was: readonly unknown[], is: readonly unknown[], reader: Reader): void {
    const byName = (document: Document, all: readonly unknown[]): Readonly<Record<string, Node>> =>
      Object.fromEntries(
        all.map((one) => document.at(one)).map((one) => [`${String(one['in'])} ${String(one['name'])}`, one]),
      );
    const [before, after] = [byName(this.released, was), byName(this.now, is)];
    this.each(place, [before, after], (name, old, now) =>
      this.schema(name, old['schema'], now['schema'], reader),
    );
    if (reader === 'others') return;
    for (const [name, { required }] of Object.entries(after))
      if (required === true && before[name]?.['required'] !== true)
        this.found.push(`${place} ${name}: is required now`);
  }

  private body(place: string, was: unknown, is: unknown, reader: Reader): void {
    const [before, after] = [this.released.at(was), this.now.at(is)];
    if (reader === 'we' && after['required'] === true && before['required'] !== true)
      this.found.push(`${place} body: is required now`);
    this.each(`${place} body`, [before['content'], after['content']], (type, old, now) =>
      this.schema(type, old['schema'], now['schema'], reader),
    );
  }

  /** Only of what went well: a new error is no break. */
  private responses(place: string, was: unknown, is: unknown): void {
    const good = Object.fromEntries(Object.entries(node(was)).filter(([status]) => status < '300'));
    this.each(place, [good, is], (status, old, now) => this.body(status, old, now, 'others'));
  }

  private scopes(place: string, was: unknown, is: unknown): void {
    const scopes = (security: unknown) =>
      list(security).flatMap((one) => Object.values(node(one)).flatMap((names) => list(names)));
    const known = scopes(was);
    const more = scopes(is).filter((scope) => !known.includes(scope));
    if (more.length > 0) this.found.push(`${place}: needs the scope ${more.join(', ')} now`);
  }

  private schema(place: string, was: unknown, is: unknown, reader: Reader): void {
    const [old, now] = [this.released.schema(was), this.now.schema(is)];
    const kinds = ({ const: word, type = word === undefined ? 'any' : typeof word }: Schema) =>
      [type].flat().sort().join();
    if (kinds(old) !== kinds(now)) this.found.push(`${place}: is ${kinds(now)}, was ${kinds(old)}`);
    if (reader === 'we') this.words(place, old, now);
    if (reader === 'we') this.bounds(place, old, now);
    this.members(place, old, now, reader);
    if (old.items && now.items) this.schema(`${place}[]`, old.items, now.items, reader);
    this.choices(place, old, now, reader);
  }

  private choices(place: string, old: Schema, now: Schema, reader: Reader): void {
    const choicesOf = ({ oneOf = [], anyOf = [] }: Schema) =>
      Object.fromEntries([...oneOf, ...anyOf].entries());
    this.each(`${place} choice`, [choicesOf(old), choicesOf(now)], (choice, one, other) =>
      this.schema(choice, one, other, reader),
    );
  }

  /** Words that others read may grow, as the documents say; those that we read may not become fewer. */
  private words(place: string, old: Schema, now: Schema): void {
    const wordsOf = (schema: Schema) => schema.enum ?? ('const' in schema ? [schema.const] : undefined);
    const [before, after] = [wordsOf(old), wordsOf(now)];
    if (!after) return;
    const gone = before?.filter((word) => !after.includes(word)) ?? ['any'];
    if (gone.length > 0) this.found.push(`${place}: does not take ${gone.join(', ')} any more`);
  }

  private bounds(place: string, old: Schema, now: Schema): void {
    const number = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise);
    for (const bound of ['maximum', 'maxLength', 'maxItems'])
      if (number(now[bound], Infinity) < number(old[bound], Infinity))
        this.found.push(`${place}: has a lower ${bound}`);
    for (const bound of ['minimum', 'minLength', 'minItems'])
      if (number(now[bound], -Infinity) > number(old[bound], -Infinity))
        this.found.push(`${place}: has a higher ${bound}`);
    if (now['pattern'] !== undefined && now['pattern'] !== old['pattern'])
      this.found.push(`${place}: has another pattern`);
  }

  private members(place: string, old: Schema, now: Schema, reader: Reader): void {
    this.each(place, [old.properties, now.properties], (name, one, other) =>
      this.schema(name, one, other, reader),
    );
    const [before, after] = [old.required ?? [], now.required ?? []];
    const without = (all: readonly string[], known: readonly string[]) =>
      all.filter((name) => !known.includes(name));
    if (reader === 'we')
      for (const name of without(after, before)) this.found.push(`${place} ${name}: is required now`);
    else for (const name of without(before, after)) this.found.push(`${place} ${name}: may be absent now`);
  }
}

/** Changes of an OpenAPI document that break callers, or receivers of its webhooks. */
export const breaksOfOpenApi = (released: unknown, now: unknown): readonly string[] =>
  new Comparison(released, now).openApi();

/** Changes of an AsyncAPI document that break who reads its topics, or the payment systems that write one. */
export const breaksOfAsyncApi = (released: unknown, now: unknown): readonly string[] =>
  new Comparison(released, now).asyncApi();
