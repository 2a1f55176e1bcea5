import { readEvent, readNotification, readPostedEvent, renderNotification } from '../../src/index.js';

const paid = {
  id: 'evt_1',
  eventType: 'PIX_DYNAMIC_PAID',
  tenantId: 'acme',
  occurredAt: '2026-11-21T14:03:27.512Z',
  data: {
    txId: '7f3c2b1a9e8d4c5fa6b7c8d9e0f1a2b3',
    endToEndId: 'E12345678202611211403a1b2c3d4e5F',
    amount: '110.00',
  },
};
const reversal = {
  ...paid,
  eventType: 'PIX_REVERSAL',
  data: {
    endToEndId: paid.data.endToEndId,
    reversalId: 'r1',
    rtrId: 'D12345678202611211403a1b2c3d4e5F',
    amount: '1.00',
    status: 'DEVOLVIDO',
  },
};
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const reasonOf = (value: Buffer | null) => {
  const result = readEvent(value);
  return result.ok ? 'none' : result.reason;
};
const withData = (event: typeof paid | typeof reversal, data: object) =>
  bytes({ ...event, data: { ...event.data, ...data } });

describe('an event on the topic', () => {
  it.each([
    ['a payment', bytes(paid), 'none'],
    ['a reversal', bytes(reversal), 'none'],
    ['an unknown field in data', withData(paid, { payerName: 'x' }), 'none'],
    ['an unknown field beside it', bytes({ ...paid, extra: 1 }), 'none'],
    ['no value', null, 'null-value'],
    ['an empty value', Buffer.alloc(0), 'not-json'],
    ['no JSON', Buffer.from('<xml/>'), 'not-json'],
    ['two megabytes', Buffer.alloc(2_000_000, 0x20), 'too-large'],
    ['an array', bytes([paid]), 'schema'],
    ['null', bytes(null), 'schema'],
    ['no type', bytes({ ...paid, eventType: undefined }), 'schema'],
    ['an unknown type', bytes({ ...paid, eventType: 'PIX_LOAN' }), 'unknown-event-type'],
    ['a type of the prototype', bytes({ ...paid, eventType: 'constructor' }), 'unknown-event-type'],
    ['no id', bytes({ ...paid, id: undefined }), 'schema'],
    ['an id with a full stop', bytes({ ...paid, id: 'a.b' }), 'schema'],
    ['a line feed behind the id', bytes({ ...paid, id: 'evt\n' }), 'schema'],
    ['a tenant with a slash', bytes({ ...paid, tenantId: 'a/b' }), 'schema'],
    ['a time with an offset', bytes({ ...paid, occurredAt: '2026-11-21T14:03:27-03:00' }), 'schema'],
    ['a day that does not exist', bytes({ ...paid, occurredAt: '2026-02-30T14:03:27Z' }), 'schema'],
    ['the 29th of a leap year', bytes({ ...paid, occurredAt: '2028-02-29T14:03:27Z' }), 'none'],
    ['an amount as a number', withData(paid, { amount: 110 }), 'schema'],
    ['an amount with one place', withData(paid, { amount: '110.0' }), 'schema'],
    ['a negative amount', withData(paid, { amount: '-1.00' }), 'schema'],
    ['a short txId', withData(paid, { txId: 'a'.repeat(25) }), 'schema'],
    ['a long txId', withData(paid, { txId: 'a'.repeat(36) }), 'schema'],
    ['a status out of the list', withData(reversal, { status: 'EM_PROCESSAMENTO' }), 'schema'],
    ['free text as reason', withData(reversal, { reason: 'Maria asked' }), 'schema'],
    [
      'a repeated key',
      Buffer.from(JSON.stringify(paid).replace('{"id"', '{"id":"evt_2","id"')),
      'duplicate-key',
    ],
    [
      'deep nesting',
      bytes({ ...paid, x: JSON.parse('['.repeat(17) + ']'.repeat(17)) as unknown }),
      'too-deep',
    ],
    ['a NUL', bytes({ ...paid, note: 'a\0b' }), 'forbidden-character'],
    ['bytes that are no UTF-8', Buffer.concat([bytes(paid), Buffer.from([0xff])]), 'not-utf8'],
  ])('%s', (_, value, reason) => {
    expect(reasonOf(value)).toBe(reason);
  });

  it('names the place of a fault without its value', () => {
    const result = readEvent(withData(paid, { amount: 'secret-value' }));
    expect(result).toMatchObject({ ok: false, violations: [{ property: 'data.amount' }] });
    expect(JSON.stringify(result)).not.toContain('secret-value');
  });
});

describe('a posted event', () => {
  it('may leave out id and tenant', () => {
    const { eventType, occurredAt, data } = paid;
    const rest = { eventType, occurredAt, data };
    expect(readEvent(bytes(rest)).ok).toBe(false);
    expect(readPostedEvent(rest).ok).toBe(true);
  });
});

describe('the notification', () => {
  it('holds the listed fields in a fixed order and nothing else', () => {
    const shuffled = {
      data: {
        chargeAmount: '120.00',
        payer: 'nobody',
        amount: '110.00',
        endToEndId: paid.data.endToEndId,
        txId: paid.data.txId,
      },
      tenantId: 'acme',
      occurredAt: paid.occurredAt,
      eventType: paid.eventType,
      id: paid.id,
    };
    const result = readEvent(bytes(shuffled));
    if (!result.ok) throw new Error(result.reason);
    expect(renderNotification(result.event).toString()).toBe(
      '{"id":"evt_1","eventType":"PIX_DYNAMIC_PAID","occurredAt":"2026-11-21T14:03:27.512Z","data":' +
        '{"txId":"7f3c2b1a9e8d4c5fa6b7c8d9e0f1a2b3","endToEndId":"E12345678202611211403a1b2c3d4e5F","amount":"110.00","chargeAmount":"120.00"}}',
    );
  });
});

describe('the body of a notification', () => {
  it('reads back as the event from which it was rendered', () => {
    const read = readEvent(bytes(paid));
    if (!read.ok) throw new Error(read.reason);
    expect(readNotification('acme', renderNotification(read.event))).toEqual(read);
  });

  it.each([
    ['not-json', '{'],
    ['schema', '[]'],
    ['schema', '{"id":"evt_1","eventType":"PIX_STATIC"}'],
    ['unknown-event-type', '{"eventType":"PIX_NEW"}'],
  ])('is refused when it has none (%s): %s', (reason, text) => {
    expect(readNotification('acme', Buffer.from(text))).toMatchObject({ ok: false, reason });
  });
});

describe('a posted event with a mistake', () => {
  const NOW = Date.parse('2026-11-21T14:00:00.000Z');
  const event = {
    eventType: 'PIX_STATIC',
    occurredAt: '2026-11-21T14:03:27.512Z',
    data: { endToEndId: 'E12345678202611211403a1b2c3d4e5F', amount: '42.00' },
  };
  const money = 'must be text with two decimals after a point, such as "110.00"';

  it.each([
    ['data.amount', 'must be more than 0.00', { data: { ...event.data, amount: '0.00' } }],
    ['occurredAt', 'must not be more than a day ahead', { occurredAt: '2026-11-22T14:00:00.001Z' }],
    ['data.amount', money, { data: { ...event.data, amount: 42 } }],
    ['data.amount', money, { data: { ...event.data, amount: '42' } }],
    ['data.endToEndId', 'must be 32 letters or digits', { data: { ...event.data, endToEndId: 'E1' } }],
    [
      'occurredAt',
      'must be an RFC 3339 time in UTC, such as 2026-11-21T14:03:27.512Z',
      { occurredAt: '2026-11-21' },
    ],
  ])('gets the violation that %s %s', (property, reason, change) => {
    expect(readPostedEvent({ ...event, ...change }, NOW)).toMatchObject({
      ok: false,
      violations: [{ property, reason }],
    });
  });

  it('gets every violation of an empty object', () => {
    const violations = ['eventType', 'occurredAt', 'data'].map((property) => ({ property }));
    expect(readPostedEvent({})).toMatchObject({ violations });
  });

  it('may be up to a day ahead, and neither rule holds for events on the topic', () => {
    expect(readPostedEvent({ ...event, occurredAt: '2026-11-22T14:00:00.000Z' }, NOW).ok).toBe(true);
    const onTopic = {
      ...{ ...event, id: 'evt_1', tenantId: 'acme', occurredAt: '2999-01-01T00:00:00Z' },
      data: { ...event.data, amount: '0.00' },
    };
    expect(readEvent(Buffer.from(JSON.stringify(onTopic))).ok).toBe(true);
  });

  it('may be a test, in a post and on the topic', () => {
    const test = { ...event, id: 'evt_test_1', tenantId: 'acme' };
    expect(readPostedEvent(test, NOW)).toMatchObject({ ok: true, event: { id: 'evt_test_1' } });
    expect(readEvent(Buffer.from(JSON.stringify(test)))).toMatchObject({ ok: true, event: test });
  });
});
