import { randomBytes } from 'node:crypto';
import { EVENT_TYPES, PATTERNS, PROBLEMS } from '@webhooks/contracts';
import { isObject } from '@webhooks/testkit';
import type { Json } from '@webhooks/testkit';
import { placeOf } from '../src/documents.js';
import { DELIVERY_STATUSES } from '../src/delivery-log/delivery-state.js';
import { cursorAfter, LIMIT, readListQuery } from '../src/delivery-log/list-query.js';
import { createDeliveryOperations } from '../src/delivery-log/operations.js';
import type { DeliveryPorts } from '../src/delivery-log/operations.js';
import { composeHealth } from '../src/endpoint-health/compose.js';
import type { HealthOptions } from '../src/endpoint-health/compose.js';
import { createTransactionOperations } from '../src/payments/compose.js';
import type { TransactionPorts } from '../src/payments/compose.js';
import { MAX_EVENTS } from '../src/payments/find-events.js';
import { createNotificationOperation } from '../src/payments/get-notification.js';
import type { GetNotificationPorts } from '../src/payments/get-notification.js';
import { createListOperation, TRANSACTIONS_PARAMETERS } from '../src/payments/list-transactions.js';
import type { ListTransactionsPorts } from '../src/payments/list-transactions.js';
import { createPullOperation, PULL_PARAMETERS } from '../src/payments/pull-notifications.js';
import type { PullPorts } from '../src/payments/pull-notifications.js';
import { MAX_SHARING, sealCursor } from '../src/payments/pull-page.js';
import { JOBS_PARAMETERS, redeliveryOperations } from '../src/redelivery/compose.js';
import type { RedeliveryParts } from '../src/redelivery/compose.js';
import { REDELIVERABLE } from '../src/redelivery/redelivery-store.js';
import { MAX_MATCHED } from '../src/redelivery/start-redelivery.js';
import { overviewOperations } from '../src/overview/overview.js';
import type { OverviewOptions } from '../src/overview/overview.js';
import { statementOperations } from '../src/statements/statement.js';
import type { StatementOptions } from '../src/statements/statement.js';
import { at, faultOf } from './support/openapi.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];

const schema = (name: string, ...steps: readonly string[]): Json =>
  at('components', 'schemas', name, ...steps);

const operations = Object.keys(at('paths')).flatMap((path) =>
  METHODS.filter((method) => method in at('paths', path)).map((method) => ({
    path,
    method,
    operation: at('paths', path, method),
  })),
);

const served = [
  ...createTransactionOperations({} as TransactionPorts),
  createPullOperation({ waiting: { total: 1, perTenant: 1 } } as PullPorts),
  createListOperation({} as ListTransactionsPorts),
  createNotificationOperation({} as GetNotificationPorts),
  ...createDeliveryOperations({} as DeliveryPorts),
  ...redeliveryOperations({} as RedeliveryParts),
  ...composeHealth({} as HealthOptions).operations,
  ...statementOperations({} as StatementOptions),
  ...overviewOperations({} as OverviewOptions),
];

interface Example {
  readonly name: string;
  readonly schema: unknown;
  readonly value: unknown;
}

/** Every example of a request or an answer, with the schema that stands beside it. */
function examplesBelow(node: unknown, place: string): Example[] {
  if (!isObject(node)) return [];
  const here =
    isObject(node['examples']) && node['schema'] !== undefined ? Object.keys(node['examples']) : [];
  const own = here.map((name) => {
    const example = isObject(node['examples']) ? node['examples'][name] : undefined;
    const ref = isObject(example) ? example['$ref'] : undefined;
    const { value } = typeof ref === 'string' ? at(...ref.slice(2).split('/')) : (example as Json);
    return { name: `${place} ${name}`, schema: node['schema'], value };
  });
  return [
    ...own,
    ...Object.entries(node).flatMap(([name, inner]) => examplesBelow(inner, `${place} ${name}`)),
  ];
}

const examples = [
  ...operations.flatMap(({ path, method, operation }) =>
    examplesBelow({ ...operation, parameters: [] }, `${method} ${path}`),
  ),
  ...examplesBelow(at('components', 'responses'), ''),
];

const statusesOf = (operation: Json): readonly string[] =>
  isObject(operation['responses']) ? Object.keys(operation['responses']) : [];

describe('openapi.yaml', () => {
  it('describes exactly the operations that the service has, with scopes and query parameters', () => {
    const documented = operations.map(({ path, method, operation }) => {
      const parameters = (operation['parameters'] ?? []) as readonly Json[];
      const query = parameters.flatMap((one) => (one['in'] === 'query' ? [one['name']] : []));
      return JSON.stringify([method.toUpperCase(), path, operation['security'], query]);
    });
    const wanted = served.map(({ method, path, scopes, query }) => {
      const template = path.replaceAll(/:(\w+)/g, '{$1}');
      return JSON.stringify([method, template, [{ accessToken: scopes }], Object.keys(query ?? {})]);
    });
    expect(documented.sort()).toEqual(wanted.sort());
  });

  it('marks what goes beyond the specification: everything but the two queries', () => {
    for (const { path, operation } of operations)
      expect(operation['x-extension'] === true).toBe(!/\/pix\/(cob\/\{txId\}|transaction)$/.test(path));
  });

  it('declares the responses that every operation can give', () => {
    for (const { operation } of operations)
      expect(statusesOf(operation)).toEqual(expect.arrayContaining(['401', '403', '429', '431', '500']));
  });

  it('declares 422 everywhere, and 404 wherever a path or a body names something', () => {
    for (const { path, method, operation } of operations) {
      const statuses = statusesOf(operation);
      const isList =
        method === 'get' &&
        /(deliveries|notifications|transactions|overview|statements\/\{date\})$/.test(path);
      expect([method, path, statuses.includes('404')]).toEqual([method, path, !isList]);
      expect([method, path, statuses.includes('422')]).toEqual([method, path, true]);
    }
  });

  it('declares 503 for what waits for Kafka, always with the time after which to try again', () => {
    const waiting = operations
      .filter(({ operation }) => statusesOf(operation).includes('503'))
      .map(({ operation }) => operation['operationId']);
    expect(waiting).toEqual([
      'getCharge',
      'getTransaction',
      'pullNotifications',
      'getNotification',
      'listDeliveries',
      'sendEvent',
      'getDelivery',
      'redeliver',
      'startRedelivery',
      'getOverview',
      'getStatement',
      'getHealth',
      'sendTest',
    ]);
    expect(at('components', 'responses', 'Unavailable', 'headers', 'Retry-After')['required']).toBe(true);
  });

  it('names only problem codes that exist, and shows one example at least of each but the least interesting', () => {
    const codes = schema('Problem', 'properties', 'code')['enum'] as readonly string[];
    expect(codes.filter((code) => !(code in PROBLEMS))).toEqual([]);
    const shown = new Set(
      examples.map(({ value }) => (isObject(value) ? value['code'] : undefined)).filter(Boolean),
    );
    expect(codes.filter((code) => !shown.has(code))).toEqual(['method-not-allowed']);
  });

  it('shows each problem with the type, status and title that it has', () => {
    for (const [name, value] of examples.map(({ name, value }) => [name, value] as const)) {
      if (!isObject(value) || !('code' in value)) continue;
      const { status, title } = PROBLEMS[value['code'] as keyof typeof PROBLEMS];
      const type = `urn:webhooks:problem:${String(value['code'])}`;
      expect([name, value]).toEqual([name, expect.objectContaining({ status, title, type })]);
    }
  });

  it('shows each problem under its own status', () => {
    for (const response of Object.values(at('components', 'responses'))) {
      const shown = examplesBelow(response, '').map(({ value }) => (isObject(value) ? value['status'] : 0));
      expect(new Set(shown).size).toBeLessThanOrEqual(1);
    }
  });

  it('has examples that follow their own schemas', () => {
    expect(examples.length).toBeGreaterThan(25);
    for (const example of examples)
      expect([example.name, faultOf(example.schema, example.value)]).toEqual([example.name, undefined]);
  });

  it.each([
    'NotificationPage',
    'StoredNotification',
    'TransactionList',
    'DeliveryList',
    'Delivery',
    'Redelivery',
    'RedeliveryList',
    'Charge',
    'Transaction',
    'EndpointHealth',
  ])('leaves no room in %s for a member that is not described', (name) => {
    const example = examples.find(({ schema: wanted }) => JSON.stringify(wanted).endsWith(`/${name}"}`));
    const wanted = { $ref: `#/components/schemas/${name}` };
    expect(faultOf(wanted, example?.value)).toBeUndefined();
    expect(faultOf(wanted, { ...(example?.value as Json), address: '10.0.0.1' })).toBeDefined();
  });
});

describe('the bounds and words of openapi.yaml', () => {
  it('are those of the code', () => {
    expect(schema('EventType')['enum']).toEqual(EVENT_TYPES);
    expect(schema('DeliveryStatus')['enum']).toEqual(DELIVERY_STATUSES);
    expect(schema('RedeliverableStatus')['enum']).toEqual(REDELIVERABLE);
    expect(schema('DynamicTxId')['pattern']).toBe(PATTERNS.dynamicTxId);
    expect(schema('TxId')['pattern']).toBe(PATTERNS.anyTxId);
    expect(schema('EndToEndId')['pattern']).toBe(PATTERNS.endToEndId);
    expect(schema('EventId')['pattern']).toBe(PATTERNS.eventId);
    expect(schema('RedeliveryId')['pattern']).toBe(PATTERNS.ref);
    expect(schema('Money')['pattern']).toBe(PATTERNS.money);
    expect(schema('Charge', 'properties', 'pix')['maxItems']).toBe(MAX_EVENTS);
    expect(schema('Transaction', 'properties', 'reversals')['maxItems']).toBe(MAX_EVENTS);
    expect(schema('RedeliveryCount', 'properties', 'matched')['maximum']).toBe(MAX_MATCHED);
  });

  it('are those of the list of deliveries: parameters, limit and its default', () => {
    const { parameters } = at('paths', '/integration/v1/webhooks/deliveries', 'get');
    const known = new Map(
      (parameters as readonly Json[]).map(({ name, schema: own }) => [name, own as Json]),
    );
    const { maximum, default: preset } = known.get('limit') ?? {};
    const wishFor = (query: Record<string, string>) => readListQuery(new URLSearchParams(query)).request;
    expect(wishFor({}).limit).toBe(preset);
    expect(wishFor({ limit: String(maximum) }).limit).toBe(maximum);
    expect(() => wishFor({ limit: String(Number(maximum) + 1) })).toThrow('limit');
    expect(schema('DeliveryList', 'properties', 'data')['maxItems']).toBe(maximum);
    const texts: Record<string, string> = {
      ...{ ref: '0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f', eventId: 'evt_1', eventType: 'PIX_OUT' },
      ...{ status: 'dead', from: '2026-11-21T00:00:00Z', to: '2026-11-22T00:00:00Z', limit: '1' },
      ...{ endToEndId: 'E'.repeat(32), txId: 'a' },
      cursor: cursorAfter(placeOf(Date.now(), 'a'.repeat(52))),
    };
    expect([...known.keys()].sort()).toEqual(Object.keys(texts).sort());
    expect(() => wishFor(texts)).not.toThrow();
    for (const [name, own] of known) {
      const value = name === 'limit' ? 1 : texts[String(name)];
      expect([name, faultOf(own, value)]).toEqual([name, undefined]);
      expect(() => wishFor({ ...texts, [String(name)]: '' })).toThrow(String(name));
      expect(faultOf(own, '')).toBeDefined();
    }
  });

  it('are those of the list of payments', () => {
    const { parameters } = at('paths', '/integration/v1/pix/transactions', 'get');
    const cursor = cursorAfter(placeOf(Date.now(), 'evt_1-A'));
    const texts: Record<string, readonly [good: string, bad: string]> = {
      from: ['2026-11-21T00:00:00Z', '2026-11-21'],
      to: ['2026-11-22T00:00:00Z', 'now'],
      amount: ['87.30', '87.3'],
      eventType: ['PIX_OUT', 'PIX'],
      status: ['DEVOLVIDO', 'CONCLUIDA'],
      limit: ['200', '201'],
      cursor: [cursor, cursor.slice(1)],
    };
    for (const { name, schema: own } of parameters as readonly Json[]) {
      const { parse } = TRANSACTIONS_PARAMETERS[name as keyof typeof TRANSACTIONS_PARAMETERS];
      const [good = '', bad = ''] = texts[String(name)] ?? [];
      const value = (text: string) => (name === 'limit' ? Number(text) : text);
      expect([name, faultOf(own, value(good)), parse(good) === undefined]).toEqual([name, undefined, false]);
      expect([name, faultOf(own, value(bad)) === undefined, parse(bad)]).toEqual([name, false, undefined]);
    }
    expect(schema('TransactionList', 'properties', 'data')['maxItems']).toBe(200);
  });

  it('are those of the list of redeliveries', () => {
    const { parameters } = at('paths', '/integration/v1/webhooks/redeliveries', 'get');
    const known = new Map(
      (parameters as readonly Json[]).map(({ name, schema: own }) => [name, own as Json]),
    );
    const { maximum, default: preset } = known.get('limit') ?? {};
    const { parse } = JOBS_PARAMETERS.limit;
    expect([preset, maximum]).toEqual([LIMIT, parse(String(maximum))]);
    expect(parse(String(Number(maximum) + 1))).toBeUndefined();
    expect(schema('RedeliveryList', 'properties', 'data')['maxItems']).toBe(maximum);
    const id = '0193510a-7c1e-7b1a-9f54-2d6c8a1b0e4f';
    for (const cursor of [id, `c${id}`]) {
      const expected = cursor === id ? cursor : undefined;
      expect(faultOf(known.get('cursor'), cursor) === undefined).toBe(cursor === id);
      expect(JOBS_PARAMETERS.cursor.parse(cursor)).toBe(expected);
    }
  });

  it('are those of pulled notifications', () => {
    const { parameters } = at('paths', '/integration/v1/notifications', 'get');
    const known = new Map(
      (parameters as readonly Json[]).map(({ name, schema: own }) => [name, own as Json]),
    );
    expect(known.get('limit')?.['maximum']).toBe(MAX_EVENTS);
    expect(schema('NotificationPage', 'properties', 'data')['maxItems']).toBe(MAX_EVENTS + MAX_SHARING);
    const offsets = new Map([[3, 2 ** 51]]);
    const ring = { keys: [{ id: 'cursor', key: randomBytes(32) }] };
    const after = sealCursor(
      ring,
      { generation: '3f9a1c2e', caughtUpAt: Date.now(), first: 0, offsets },
      'acme',
    );
    const texts = [
      ['after', 'now', after, '', 'later'],
      ['limit', '1', '1000', '0', '1001'],
      ['wait', '0', '25', '-1', '26'],
    ] as const;
    for (const [name, least, most, ...refused] of texts) {
      const value = (text: string) => (name === 'after' ? text : Number(text));
      const { parse } = PULL_PARAMETERS[name];
      for (const text of [least, most])
        expect([name, text, faultOf(known.get(name), value(text)), parse(text) === undefined]).toEqual([
          ...[name, text, undefined, false],
        ]);
      for (const text of refused)
        expect([text, faultOf(known.get(name), value(text)) === undefined, parse(text)]).toEqual([
          ...[text, false, undefined],
        ]);
    }
  });

  it('are those of request bodies: two operations take one, of 4 KiB', () => {
    const taking = operations.filter(({ operation }) => 'requestBody' in operation);
    const bounded = served.filter((operation) => 'maxBodyBytes' in operation);
    expect(taking.map(({ path }) => path)).toEqual(bounded.map(({ path }) => path));
    expect(bounded.map((operation) => 'maxBodyBytes' in operation && operation.maxBodyBytes)).toEqual([
      4_096, 4_096,
    ]);
  });
});
