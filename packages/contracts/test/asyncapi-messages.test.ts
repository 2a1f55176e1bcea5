import {
  CONFIGURATION_RECORD_SCHEMA,
  DATA_FIELDS,
  DATA_SCHEMAS,
  EVENT_TYPES,
  fanOutHeaders,
  parseAttemptPack,
  parseConfigurationRecord,
  parseDeliveryTask,
  parseFanOut,
  readEvent,
  taskHeaders,
} from '../src/index.js';
import type { FanOut } from '../src/index.js';
import { at, faultsOf, membersOf } from './support/asyncapi.js';
import type { Json, Message } from './support/asyncapi.js';
import {
  ENTRIES,
  FACTS,
  alertTask,
  changed,
  configuration,
  configurationMessage,
  eventMessage,
  fullTask,
  packMessage,
  paid,
  taskMessage,
  taskOf,
  txId,
  endToEndId,
} from './support/sample-messages.js';

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

describe('an event in asyncapi.yaml', () => {
  it.each(FACTS)('is what ingest writes for $eventType, with every field that travels', (fact) => {
    const message = eventMessage(fact);
    expect(faultsOf('event', message)).toEqual([]);
    const { data } = message.value as { readonly data: Json };
    expect(Object.keys(data)).toEqual(DATA_FIELDS[fact.eventType]);
  });

  it.each(EVENT_TYPES)('requires the same members of data as the reader of %s', (eventType) => {
    const [member] = (at('components', 'schemas', 'Fact')['oneOf'] as readonly Json[]).filter(
      ({ properties }) => (properties as { eventType: Json }).eventType['const'] === eventType,
    );
    const { data } = member?.['properties'] as { data: { $ref: string } };
    const { required, properties } = at(...data.$ref.slice(2).split('/'));
    const wanted = DATA_SCHEMAS[eventType];
    expect(required).toEqual(wanted.required);
    expect(Object.keys(properties as Json)).toEqual(Object.keys(wanted.properties));
  });

  it.each<[string, Json]>([
    ['without an id', { id: undefined }],
    ['of an unknown type', { eventType: 'PIX_OTHER' }],
    ['of another type than its data', { eventType: 'PIX_OUT' }],
    ['without a tenant', { tenantId: '' }],
    ['on a day that does not exist', { occurredAt: '2026-02-30T00:00:00Z' }],
    ['with money as a number', { data: { txId, endToEndId, amount: 110 } }],
    ['with a short identifier', { data: { txId, endToEndId: 'E1', amount: '1.00' } }],
  ])('is refused %s, by the code too', (_, over) => {
    const damaged = changed(eventMessage(paid), 'value', over);
    expect(readEvent(Buffer.from(JSON.stringify(damaged.value))).ok).toBe(false);
    expect(faultsOf('event', damaged)).not.toEqual([]);
  });

  it('may have any key and no headers', () => {
    expect(faultsOf('event', { key: null, value: eventMessage(paid).value })).toEqual([]);
  });

  it('is refused with headers that say something else', () => {
    for (const header of [{ ce_specversion: '0.3' }, { ce_type: 'paid' }, { traceparent: 'x' }])
      expect(faultsOf('event', changed(eventMessage(paid), 'headers', header))).not.toEqual([]);
  });
});

describe('a rejected event in asyncapi.yaml', () => {
  const origin = { 'origin-topic': 'payments.events', 'origin-partition': '4', 'origin-offset': '77' };
  const rejected = (reason: string): Message => ({
    key: '4/77',
    headers: { 'reject-reason': reason, ...origin, 'origin-timestamp': '-1' },
  });

  it.each<[string, Buffer | null]>([
    ['no value', null],
    ['a large value', Buffer.alloc(1_048_577, ' ')],
    ['bytes', Buffer.of(0xff)],
    ['text', Buffer.from('x')],
    ['nesting', Buffer.from('['.repeat(100))],
    ['a repeated name', Buffer.from('{"a":1,"a":2}')],
    ['a NUL', Buffer.from('{"a":"\\u0000"}')],
    ['another type', Buffer.from('{"eventType":"x"}')],
    ['an empty object', Buffer.from('{}')],
  ])('has the reason that the reader gives for %s', (_, value) => {
    const read = readEvent(value);
    expect(faultsOf('rejectedEvent', rejected(read.ok ? '' : read.reason))).toEqual([]);
  });

  it('has no other reason, and a place', () => {
    expect(faultsOf('rejectedEvent', rejected('bad'))).not.toEqual([]);
    expect(faultsOf('rejectedEvent', { key: '', headers: { 'reject-reason': 'schema' } })).not.toEqual([]);
  });
});

describe('a configuration in asyncapi.yaml', () => {
  it('is what config-api writes, with every member that the reader knows', () => {
    expect(faultsOf('configuration', configurationMessage)).toEqual([]);
    const schema = at('components', 'schemas', 'Configuration');
    expect(Object.keys(schema['properties'] as Json)).toEqual(
      Object.keys(CONFIGURATION_RECORD_SCHEMA.properties),
    );
    expect(schema['required']).toEqual(CONFIGURATION_RECORD_SCHEMA.required);
    expect(Object.keys(configuration).sort()).toEqual(membersOf(schema));
  });

  it.each<[string, Json]>([
    ['without a revision', { revision: 0 }],
    ['without a version', { v: undefined }],
    ['with four secrets', { secrets: ['a', 'b', 'c', 'd'].map((sealed) => ({ sealed })) }],
    ['with a time-out in words', { policy: { timeoutMs: '1s' } }],
    ['with a ref that is no UUID', { ref: 'r' }],
    ['with an alert in another language', { alert: { format: 'text', language: 'pt' } }],
    ['with an alert without a format', { alert: { language: 'en' } }],
    ['with a word for a flag', { enabled: 'true' }],
  ])('is refused %s, by the code too', (_, over) => {
    const damaged = changed(configurationMessage, 'value', over);
    expect(parseConfigurationRecord(bytesOf(damaged.value)).ok).toBe(false);
    expect(faultsOf('configuration', damaged)).not.toEqual([]);
  });

  it('is refused under a key without its tenant', () => {
    expect(faultsOf('configuration', { ...configurationMessage, key: configuration.ref })).not.toEqual([]);
  });
});

describe('a task in asyncapi.yaml', () => {
  const required = at('components', 'schemas', 'TaskHeaders')['required'] as readonly string[];

  it.each(FACTS)('is what is written for $eventType', (fact) => {
    expect(faultsOf('deliveryTask', taskMessage(taskOf(fact)))).toEqual([]);
  });

  it.each<[string, Json]>([
    [
      'event',
      { id: fullTask.eventId, type: 'endpoint.failing', occurredAt: configuration.updatedAt, data: {} },
    ],
    ['text', { text: 'hook.acme.com.br does not respond' }],
  ])('may be an alert in the format %s, and is read back', (_, body) => {
    const task = alertTask(body);
    expect(faultsOf('alertTask', taskMessage(task))).toEqual([]);
    expect(parseDeliveryTask(taskHeaders(task), task.body)).toEqual({ ok: true, task });
  });

  it('has every header that the code writes and no other', () => {
    expect(Object.keys(taskHeaders(fullTask)).sort()).toEqual(
      membersOf(at('components', 'schemas', 'TaskHeaders')),
    );
  });

  it('needs exactly what a first attempt has', () => {
    const {
      applicationId,
      firstAttemptAt,
      acceptedAt,
      errorCode,
      httpStatus,
      history,
      traceparent,
      previousTraceparent,
      ...first
    } = fullTask;
    expect(Object.keys(taskHeaders(first)).sort()).toEqual([...required].sort());
    expect(faultsOf('deliveryTask', taskMessage(first))).toEqual([]);
  });

  it.each(required)('is refused with a damaged header %s, and without it', (name) => {
    for (const value of ['', '\u0000', undefined])
      expect(
        faultsOf('deliveryTask', changed(taskMessage(fullTask), 'headers', { [name]: value })),
      ).not.toEqual([]);
  });

  it('of a whole event has every header that the code writes, and is read back', () => {
    const { eventId, eventType, dueAt, firstDueAt, origin, acceptedAt, traceparent, body } = fullTask;
    const parts = {
      eventId,
      eventType,
      tenantId: fullTask.tenantId,
      dueAt,
      firstDueAt,
      origin,
      acceptedAt,
      body,
    };
    const fanOut: FanOut = { ...parts, traceparent: traceparent ?? '', afterRef: fullTask.ref };
    const headers = fanOutHeaders(fanOut);
    expect(Object.keys(headers).sort()).toEqual(membersOf(at('components', 'schemas', 'FanOutHeaders')));
    const message = { key: eventId, headers, value: JSON.parse(String(body)) as Json };
    expect(faultsOf('fanOut', message)).toEqual([]);
    expect(parseFanOut(headers, body)).toEqual({ ok: true, task: fanOut });
    expect(parseFanOut({ ...headers, 'after-ref': '' }, body)).toMatchObject({ ok: false });
  });

  it('is read by the code where the document allows it', () => {
    expect(parseDeliveryTask(taskHeaders(fullTask), fullTask.body)).toEqual({ ok: true, task: fullTask });
  });

  it('is refused with another history, and with a body that is no notification', () => {
    const message = taskMessage(fullTask);
    expect(faultsOf('deliveryTask', changed(message, 'headers', { history: 'v1' }))).not.toEqual([]);
    expect(faultsOf('deliveryTask', changed(message, 'value', { eventType: 'PIX_OUT' }))).not.toEqual([]);
    expect(faultsOf('deliveryTask', { ...message, key: 'd1' })).not.toEqual([]);
  });
});

describe('a dead letter in asyncapi.yaml', () => {
  const dead = (over: Json): Message =>
    changed(taskMessage(fullTask), 'headers', { 'dead-reason': 'expired', 'dead-at': '1', ...over });

  it('is a task with the reason and the time of its end', () => {
    expect(faultsOf('deadLetter', dead({}))).toEqual([]);
    expect(faultsOf('deadLetter', taskMessage(fullTask))).not.toEqual([]);
    expect(faultsOf('deadLetter', dead({ 'dead-reason': 'tired' }))).not.toEqual([]);
    expect(faultsOf('deadLetter', dead({ 'delivery-id': undefined }))).not.toEqual([]);
  });

  it('of a task that cannot be read has the reason of the reader and a place', () => {
    const { reason } = parseDeliveryTask({}, fullTask.body) as { readonly reason: string };
    const place = { 'damaged-topic': 'webhooks.deliveries', 'damaged-partition': '0', 'damaged-offset': '9' };
    const headers = { 'dead-reason': reason, 'dead-at': '1', ...place };
    expect(reason).toMatch(/^damaged-header:/);
    for (const known of [reason, 'too-large'])
      expect(faultsOf('damagedTask', { key: '0/9', headers: { ...headers, 'dead-reason': known } })).toEqual(
        [],
      );
    expect(faultsOf('damagedTask', { key: '0/9', headers: { ...headers, 'dead-reason': '' } })).not.toEqual(
      [],
    );
    expect(faultsOf('damagedTask', { key: '0/9', headers: place })).not.toEqual([]);
  });
});

describe('a pack of attempts in asyncapi.yaml', () => {
  const names = { attempt: 'Attempt', deferred: 'Deferred', cancelled: 'Cancelled', dead: 'Dead' } as const;

  it('is what the worker writes', () => {
    expect(faultsOf('attemptPack', packMessage(ENTRIES))).toEqual([]);
  });

  it('has fan-outs, which are no entries of a delivery', () => {
    const { tenantId, eventId, at: time } = ENTRIES[0] ?? {};
    const fanOut = { kind: 'fan-out', tenantId, eventId, at: time, isOpen: true };
    const value = { v: 1, records: [...ENTRIES, fanOut] };
    expect(faultsOf('attemptPack', { ...packMessage(ENTRIES), value })).toEqual([]);
    const damaged = { ...fanOut, isOpen: 'yes' };
    expect(parseAttemptPack(bytesOf({ v: 1, records: [...value.records, damaged] }))).toMatchObject({
      records: { length: ENTRIES.length },
      ...{ fanOuts: [fanOut], damaged: 1 },
    });
  });

  it.each(['attempt', 'deferred', 'cancelled', 'dead'] as const)(
    'has every member of the kind %s',
    (kind) => {
      const written = ENTRIES.filter((entry) => entry.kind === kind).flatMap((entry) => Object.keys(entry));
      const described = new Set(membersOf(at('components', 'schemas', names[kind])));
      expect([...new Set(written)].sort()).toEqual([...described].sort());
    },
  );

  it.each<[string, Json]>([
    ['without a delivery', { deliveryId: undefined }],
    ['with an attempt 0', { attempt: 0 }],
    ['with a time as text', { at: '2026-11-21T14:03:27.512Z' }],
    ['with an offset as a number', { source: { topic: 'payments.events', partition: 4, offset: 77 } }],
    ['with a result of its own', { result: 'perhaps' }],
    ['with a duration below zero', { durationMs: -1 }],
    ['of another event type', { eventType: 'PIX_OTHER' }],
  ])('is refused with an entry %s, which the code takes for damaged', (_, over) => {
    const damaged = { v: 1, records: [{ ...ENTRIES[0], ...over }] };
    expect(parseAttemptPack(bytesOf(damaged))).toMatchObject({ ok: true, damaged: 1 });
    expect(
      faultsOf('attemptPack', { ...packMessage(ENTRIES), value: JSON.parse(JSON.stringify(damaged)) }),
    ).not.toEqual([]);
  });

  it('is refused with more entries than a pack has, and in a format that nobody reads', () => {
    const many = Array.from({ length: 257 }, () => ENTRIES).flat();
    expect(faultsOf('attemptPack', packMessage(many.slice(0, 256)))).toEqual([]);
    expect(faultsOf('attemptPack', packMessage(many.slice(0, 257)))).not.toEqual([]);
    expect(faultsOf('attemptPack', changed(packMessage(ENTRIES), 'value', { v: 3 }))).not.toEqual([]);
  });
});
