import {
  MAX_EVENT_BYTES,
  headerText,
  parseAttemptPack,
  parseDeliveryTask,
  taskHeaders,
} from '../../src/index.js';
import type { DeliveryTask } from '../../src/index.js';

const TASK: DeliveryTask = {
  deliveryId: 'a'.repeat(52),
  cycle: '0',
  eventId: 'evt_1',
  eventType: 'PIX_OUT',
  tenantId: 'acme',
  ref: '0191e7a2-0000-7000-8000-000000000001',
  revision: 3,
  attempt: 2,
  dueAt: 1_795_269_808_123,
  firstDueAt: 1_795_269_803_000,
  deferralCount: 0,
  origin: { topic: 'payments.events', partition: 4, offset: '77' },
  body: Buffer.from('{}'),
};
const parseTask = (name: string, value: string) =>
  parseDeliveryTask({ ...taskHeaders(TASK), [name]: value }, TASK.body);

describe('what the attempt log cannot hold', () => {
  it.each([
    ['event-id', '../../../etc/passwd'],
    ['event-id', 'evt.1'],
    ['event-id', 'x'.repeat(65)],
    ['tenant-id', '%00'],
    ['tenant-id', '/'],
    ['cycle', '00'],
    ['cycle', 'NaN'],
    ['attempt', '1000001'],
    ['origin-partition', '2147483649'],
  ])('is refused as a task: %s %s', (name, value) => {
    expect(parseTask(name, value)).toEqual({ ok: false, reason: `damaged-header:${name}` });
  });

  it.each([
    ['cycle', 'r0193510a-7c1e-7b1a-9f54-2d6c8a1b0e4f'],
    ['attempt', '1000000'],
  ])('is accepted as a task: %s %s', (name, value) => {
    expect(parseTask(name, value)).toMatchObject({ ok: true });
  });

  it('is a damaged entry: a cycle that no redelivery has', () => {
    const { body: _body, dueAt, origin, ...rest } = TASK;
    const entry = { kind: 'deferred', ...rest, cycle: '00', at: dueAt, source: origin, nextAt: dueAt };
    const pack = Buffer.from(JSON.stringify({ v: 1, records: [entry] }));
    expect(parseAttemptPack(pack)).toMatchObject({ damaged: 1 });
  });
});

describe('what a tier would not take again, or would never release,', () => {
  it.each([
    ['application-id', 'x'.repeat(257)],
    ['error-code', 'x'.repeat(257)],
    ['due-at', '253402300800000'],
    ['first-due-at', '253402300800000'],
  ])('is refused as a task: %s', (name, value) => {
    expect(parseTask(name, value)).toEqual({ ok: false, reason: `damaged-header:${name}` });
  });

  it('is left out: a time of acceptance that the log would refuse', () => {
    const acceptedAtOf = (ms: string) => {
      const parsed = parseTask('accepted-at', ms);
      return parsed.ok && parsed.task.acceptedAt;
    };
    expect([acceptedAtOf('253402300799999'), acceptedAtOf('253402300800000')]).toEqual([
      253_402_300_799_999,
      undefined,
    ]);
  });

  it('is no task: a body that no event has', () => {
    const reasons = [1, 0].map((over) => {
      const parsed = parseDeliveryTask(taskHeaders(TASK), Buffer.alloc(MAX_EVENT_BYTES + over));
      return parsed.ok ? 'a task' : parsed.reason;
    });
    expect(reasons).toEqual(['too-large', 'a task']);
  });

  it.each([
    // 128 code points, as a configuration may have them.
    ['application-id', '\u{1f9fe}'.repeat(128)],
    ['error-code', 'TIMEOUT'],
    ['due-at', '253402300799999'],
  ])('is accepted from our own tiers: %s', (name, value) => {
    expect(parseTask(name, value)).toMatchObject({ ok: true });
  });
});

it('the last of several headers with one name counts, as for readers of the wire', () => {
  expect(headerText({ a: ['1', Buffer.from('2')] }, 'a')).toBe('2');
  expect(headerText({ a: [] }, 'a')).toBeUndefined();
});
