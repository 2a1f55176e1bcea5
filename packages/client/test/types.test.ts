import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { parse } from 'yaml';
import { resolved } from './support/schema.js';
import type { Schema } from './support/schema.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

const CLIENT = join(import.meta.dirname, '..');
const read = (file: string) =>
  parse(readFileSync(join(CLIENT, file), 'utf8')) as {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
const calls = read('openapi.yaml');
const schemas = { ...read('notifications.yaml').components.schemas, ...calls.components.schemas };
const openapi = { ...calls, components: { schemas } };

const union = (parts: readonly string[]): string => [...new Set(parts)].sort().join(' | ');
const literal = (value: unknown): string => JSON.stringify(value);
const members = (parts: Iterable<readonly [string, boolean, string]>): string =>
  `{ ${[...parts]
    .map(([name, required, type]) => `${name}${required ? '' : '?'}: ${type}`)
    .sort()
    .join('; ')} }`;

const named = (name: string): Schema => openapi.components.schemas[name] ?? { const: `no schema ${name}` };

const KINDS: Readonly<Record<string, string>> = { integer: 'number' };

const choicesOf = ({ oneOf, anyOf, enum: words }: Schema): readonly string[] | undefined =>
  (oneOf ?? anyOf)?.map(schemaLine) ?? words?.map(literal);

const objectLine = ({ properties = {}, required = [] }: Schema): string =>
  members(
    Object.entries(properties).map(([name, value]) => [name, required.includes(name), schemaLine(value)]),
  );

/** A schema in one line: names of members, whether each may be absent, kinds and words. */
function schemaLine(given: Schema): string {
  const schema = resolved(openapi, given);
  if ('const' in schema) return literal(schema.const);
  const choices = choicesOf(schema);
  if (choices) return union(choices);
  if (schema.type === 'array') return `[${schemaLine(schema.items ?? {})}]`;
  if (schema.type === 'object') return objectLine(schema);
  return union([schema.type ?? 'nothing'].flat().map((kind) => KINDS[kind] ?? kind));
}

const operation = (id: string): Operation => {
  const all = Object.values(openapi.paths).flatMap((item) => Object.values(item));
  const found = all.find(({ operationId }) => operationId === id);
  if (!found) throw new Error(`there is no operation ${id}`);
  return found;
};
const filterLine = (id: string): string =>
  members(
    (operation(id).parameters ?? [])
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, required = false, schema }) => [name, required, schemaLine(schema)]),
  );
const bodyLine = (id: string): string =>
  schemaLine(operation(id).requestBody?.content['application/json']?.schema ?? {});
const without = (line: string, member: RegExp): string => line.replace(member, '');

const program = ts.createProgram([join(CLIENT, 'src', 'index.ts')], {
  strict: true,
  exactOptionalPropertyTypes: true,
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2024,
  types: ['node'],
});
const checker = program.getTypeChecker();

/** A type of the SDK in one line, as `schemaLine` writes it. */
function typeLine(type: ts.Type): string {
  if (type.isUnion() && !(type.flags & ts.TypeFlags.Boolean)) {
    const parts = type.types.filter(({ flags }) => !(flags & ts.TypeFlags.Undefined)).map(typeLine);
    const isBoolean = parts.includes('false') && parts.includes('true');
    return union(parts.map((part) => (isBoolean && /^(false|true)$/.test(part) ? 'boolean' : part)));
  }
  if (type.isStringLiteral()) return literal(type.value);
  if (checker.isArrayType(type))
    return `[${typeLine(checker.getTypeArguments(type as ts.TypeReference)[0] ?? type)}]`;
  if (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))
    return members(
      checker
        .getPropertiesOfType(type)
        .map((member) => [
          member.name,
          !(member.flags & ts.SymbolFlags.Optional),
          typeLine(checker.getTypeOfSymbol(member)),
        ]),
    );
  return checker.typeToString(type);
}

function sdk(name: string): string {
  const index = program.getSourceFile(join(CLIENT, 'src', 'index.ts'));
  const module = index && checker.getSymbolAtLocation(index);
  const symbol = module && checker.getExportsOfModule(module).find((exported) => exported.name === name);
  if (!symbol) throw new Error(`the SDK exports no ${name}`);
  const aliased = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return typeLine(checker.getDeclaredTypeOfSymbol(aliased));
}

const ofSchemas = (...names: string[]): string => union(names.map((name) => schemaLine(named(name))));

describe('a type of the SDK is what openapi.yaml says', () => {
  it.each([
    ['EventType', ofSchemas('EventType')],
    ['NotificationKind', ofSchemas('NotificationKind')],
    [
      'Notification',
      ofSchemas(...['DynamicPaid', 'Static', 'Reversal', 'Out'].map((name) => `${name}Notification`)),
    ],
    ['EventInput', ofSchemas('PostedEvent')],
    ['EventResult', ofSchemas('Result')],
    ['Violation', ofSchemas('Violation')],
    ['WebhookInput', ofSchemas('WebhookRegistration')],
    ['WebhookInput', ofSchemas('WebhookUpdate')],
    ['Webhook', ofSchemas('WebhookAnswer')],
    ['ListedWebhook', ofSchemas('ListedWebhook')],
    ['WebhookList', ofSchemas('WebhookList')],
    ['WebhookFilter', filterLine('listWebhooks')],
    ['WebhookSecret', ofSchemas('WebhookSecret')],
    ['SecretInput', bodyLine('rotateSecret')],
    ['DeliveryPolicy', ofSchemas('DeliveryPolicyAnswer')],
    ['PolicyInput', ofSchemas('DeliveryPolicyInput')],
    ['Change', ofSchemas('Change')],
    ['ChangeList', ofSchemas('ChangeList')],
    ['AlertEndpointInput', ofSchemas('AlertEndpointInput')],
    ['ListedAlertEndpoint', ofSchemas('AlertEndpoint')],
    ['AlertEndpoint', ofSchemas('AlertEndpointAnswer')],
    ['AlertEndpointList', ofSchemas('AlertEndpointList')],
    ['OverviewWebhook', ofSchemas('OverviewWebhook')],
    ['Overview', ofSchemas('Overview')],
    ['Sum', ofSchemas('Sum')],
    ['StatementWebhook', ofSchemas('StatementWebhook')],
    ['Statement', ofSchemas('Statement')],
    ['HealthWindow', ofSchemas('HealthWindow')],
    ['EndpointHealth', ofSchemas('EndpointHealth')],
    ['TestNotification', ofSchemas('TestNotification')],
    ['Reversal', ofSchemas('PixReversal')],
    ['ChargePix', ofSchemas('ChargePix')],
    ['Charge', ofSchemas('Charge')],
    ['Transaction', ofSchemas('Transaction')],
    ['TransactionSummary', ofSchemas('TransactionSummary')],
    ['TransactionList', ofSchemas('TransactionList')],
    ['TransactionFilter', filterLine('listTransactions')],
    ['StoredNotification', ofSchemas('StoredNotification')],
    ['PulledNotification', ofSchemas('PulledNotification')],
    ['NotificationPage', ofSchemas('NotificationPage')],
    ['NotificationFilter', filterLine('pullNotifications').replace('"now" | ', '')],
    ['DeliveryStatus', ofSchemas('DeliveryStatus')],
    ['DeliverySummary', ofSchemas('DeliverySummary')],
    ['DeliveryAttempt', ofSchemas('DeliveryAttempt')],
    ['DeliveryDetail', ofSchemas('Delivery')],
    ['DeliveryList', ofSchemas('DeliveryList')],
    ['DeliveryFilter', filterLine('listDeliveries')],
    ['Redelivered', ofSchemas('Redelivered')],
    ['RedeliveryInput', without(ofSchemas('RedeliveryRequest'), /dryRun\?: boolean; /)],
    ['RedeliveryCount', ofSchemas('RedeliveryCount')],
    ['Redelivery', ofSchemas('Redelivery')],
    ['RedeliveryList', ofSchemas('RedeliveryList')],
    ['RedeliveryFilter', filterLine('listRedeliveries')],
  ])('%s', (name, wanted) => {
    expect(sdk(name)).toBe(wanted);
  });

  it('ProblemCode, of all services', () => {
    const codes = ['Problem', 'QueryProblem', 'IngestProblem'].map(
      (name) => named(name).properties?.['code'] ?? {},
    );
    expect(sdk('ProblemCode')).toBe(union(codes.flatMap((code) => schemaLine(code).split(' | '))));
  });

  it('a schema that changes is found', () => {
    const { Redelivered, ...others } = openapi.components.schemas;
    expect(Object.keys(others).length).toBeGreaterThan(50);
    const more = { ...Redelivered, properties: { ...Redelivered?.properties, more: { type: 'string' } } };
    const loose = { ...Redelivered, required: [] };
    const other = { ...Redelivered, properties: { ...Redelivered?.properties, cycle: { type: 'integer' } } };
    for (const changed of [more, loose, other]) expect(sdk('Redelivered')).not.toBe(schemaLine(changed));
  });
});
