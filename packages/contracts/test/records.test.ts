import { randomBytes } from 'node:crypto';
import {
  RETRY_TIERS,
  TOPIC_TABLE,
  openSecret,
  parseConfigurationRecord,
  parseDeliveryTask,
  parseKeyring,
  sealSecret,
  taskHeaders,
  tierFor,
  wholeTiers,
} from '../src/index.js';
import type { DeliveryTask } from '../src/index.js';

const task: DeliveryTask = {
  deliveryId: 'd1',
  cycle: '0',
  eventId: 'evt_1',
  eventType: 'PIX_OUT',
  tenantId: 'acme',
  ref: '0191e7a2-0000-7000-8000-000000000001',
  revision: 3,
  attempt: 2,
  dueAt: 1_795_269_808_123,
  firstDueAt: 1_795_269_803_000,
  firstAttemptAt: 1_795_269_803_100,
  deferralCount: 1,
  origin: { topic: 'payments.events', partition: 4, offset: '77' },
  errorCode: 'TLS',
  httpStatus: 503,
  history: 'v1 1:1795269803100:12:503',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  previousTraceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  body: Buffer.from('{}'),
};

describe('a delivery task', () => {
  it('is read back from its headers', () => {
    expect(parseDeliveryTask(taskHeaders(task), task.body)).toEqual({ ok: true, task });
  });

  it.each(
    Object.keys(taskHeaders(task)).filter(
      (name) =>
        !/^(task-version|error-code|http-status|(previous-)?traceparent|first-attempt-at|deferral-count|history)$/.test(
          name,
        ),
    ),
  )('names the damaged header %s', (name) => {
    for (const damage of ['', '\u0000', '-1 x']) {
      const result = parseDeliveryTask({ ...taskHeaders(task), [name]: damage }, task.body);
      expect(result).toEqual({ ok: false, reason: `damaged-header:${name}` });
    }
  });

  it.each(['', 'x', '\u0000', 'v1', 'v1 1:2', '%'.repeat(100_000)])(
    'is kept when its history is damaged: %.20j',
    (history) => {
      const { history: _, ...without } = task;
      const result = parseDeliveryTask({ ...taskHeaders(task), history }, task.body);
      expect(result).toEqual({ ok: true, task: without });
    },
  );

  it.each([
    '',
    '00-1-2-01',
    `${task.traceparent}\r\nx-injected: 1`,
    `${task.traceparent}\n`,
    `${task.traceparent?.toUpperCase()}`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    'x'.repeat(100_000),
  ])('is kept without a malformed traceparent: case %#', (traceparent) => {
    const { traceparent: _, ...without } = task;
    const result = parseDeliveryTask({ ...taskHeaders(task), traceparent }, task.body);
    expect(result).toEqual({ ok: true, task: without });
  });

  it('has a body', () => {
    expect(parseDeliveryTask(taskHeaders(task), null)).toEqual({ ok: false, reason: 'null-value' });
  });
});

describe('retry tiers', () => {
  it.each([
    [0, '1s'],
    [4_999, '1s'],
    [5_000, '5s'],
    [29_999, '5s'],
    [86_400_000, '24h'],
    [999_999_999, '24h'],
  ])('a wait of %d ms uses %s', (waitMs, name) => {
    expect(tierFor(waitMs).name).toBe(name);
  });

  it.each([
    [29_500, 30_250],
    [29_990, 30_740],
    [30_000, 30_750],
    [30_250, 30_250],
    [60_000, 61_000],
    [61_000, 61_000],
    [119_000, 119_000],
    [119_600, 120_350],
    [240_000, 241_000],
    [480_000, 481_500],
    [600_000, 600_750],
    [45_000, 45_000],
    [28_000, 28_000],
    [1_000, 1_000],
    [500, 500],
    [0, 0],
  ])('a wait of %d ms that may be longer is one of %d', (waitMs, expected) => {
    expect(wholeTiers(waitMs)).toBe(expected);
  });

  it('each have a topic in the table', () => {
    const names = new Set(TOPIC_TABLE.map((spec) => spec.name));
    expect(RETRY_TIERS.every((tier) => names.has(tier.topic))).toBe(true);
    expect(names.size).toBe(TOPIC_TABLE.length);
  });
});

describe('a sealed secret', () => {
  const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
  const [first, second] = [key('k1'), key('k2')];

  it('opens under each key of the ring, for its owner only', () => {
    const sealed = sealSecret(parseKeyring(first), 'whsec_x', 'acme/1');
    expect(sealed).not.toContain('whsec_x');
    expect(openSecret(parseKeyring(`${second},${first}`), sealed, 'acme/1')).toBe('whsec_x');
    expect(() => openSecret(parseKeyring(first), sealed, 'acme/2')).toThrow();
    expect(() => openSecret(parseKeyring(second), sealed, 'acme/1')).toThrow(
      'that this service does not have',
    );
  });

  it('needs keys of 32 bytes, each with an id of its own', () => {
    expect(() => parseKeyring('k1:AAAA')).toThrow('32 bytes');
    expect(() => parseKeyring('')).toThrow('expected `id:key`');
    expect(() => parseKeyring(`${first},${first}`)).toThrow('same id');
  });
});

describe('a configuration record', () => {
  const record = {
    v: 1,
    tenantId: 'acme',
    ref: task.ref,
    revision: 1,
    eventType: 'PIX_OUT',
    endpointUrl: 'https://hook.acme.com.br/',
    enabled: true,
    createdAt: '2026-11-21T14:03:27.512Z',
    updatedAt: '2026-11-21T14:03:27.512Z',
  };

  it('is read back with its unknown fields', () => {
    expect(
      parseConfigurationRecord(Buffer.from(JSON.stringify({ ...record, v: 2, later: 1 }))),
    ).toMatchObject({
      ok: true,
    });
  });

  it.each([
    ['x', 'not-json'],
    [JSON.stringify({ ...record, revision: 0 }), 'revision must be >= 1'],
    [JSON.stringify({ ...record, v: 0 }), 'v must be >= 1'],
  ])('%s is refused: %s', (text, reason) => {
    expect(parseConfigurationRecord(Buffer.from(text))).toMatchObject({ ok: false, reason });
  });
});
