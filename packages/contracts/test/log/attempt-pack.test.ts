import { encodeAttemptPack, parseAttemptPack } from '../../src/index.js';
import type { AttemptLogEntry } from '../../src/index.js';

const base = {
  deliveryId: 'a'.repeat(52),
  cycle: '0',
  eventId: 'evt_1',
  eventType: 'PIX_OUT',
  tenantId: 'acme',
  ref: '0191e7a2-0000-7000-8000-000000000001',
  revision: 3,
  attempt: 2,
  at: 1_795_269_808_123,
  source: { topic: 'payments.events', partition: 4, offset: '77' },
} as const;
const failed = {
  ...base,
  kind: 'attempt',
  durationMs: 12.5,
  result: 'failed',
  error: 'TLS',
  code: 'CERT_HAS_EXPIRED',
  nextAt: 5,
} as const;
const ENTRIES: readonly AttemptLogEntry[] = [
  failed,
  { ...base, kind: 'attempt', durationMs: 0, result: 'delivered', status: 204 },
  { ...base, kind: 'deferred', nextAt: 1_795_269_809_000 },
  { ...base, kind: 'cancelled', reason: 'disabled' },
  { ...base, kind: 'dead', reason: 'attempts-exhausted' },
];
const parse = (value: unknown) => parseAttemptPack(Buffer.from(JSON.stringify(value)));

describe('a pack of attempts', () => {
  it('reads back entries of every kind', () => {
    expect(parseAttemptPack(encodeAttemptPack(ENTRIES))).toEqual({
      ok: true,
      records: ENTRIES,
      fanOuts: [],
      damaged: 0,
    });
  });

  it('of the next format is read, and its unknown kinds and members count as no damage', () => {
    const later = {
      v: 2,
      region: 'eu',
      records: [
        { ...failed, region: 'eu' },
        { ...base, kind: 'compensated', amount: 1 },
      ],
    };
    expect(parse(later)).toEqual({ ok: true, records: [failed], fanOuts: [], damaged: 0 });
  });

  it.each([
    ['', 'not-json'],
    ['{"v":1,"records":[', 'not-json'],
    ['null', 'not-a-pack'],
    ['[]', 'not-a-pack'],
    ['{"v":1}', 'not-a-pack'],
    ['{"v":1,"records":{}}', 'not-a-pack'],
    ['{"v":3,"records":[]}', 'unknown-version'],
    ['{"records":[]}', 'unknown-version'],
  ])('refuses a value that is no pack, with a reason: %s', (text, reason) => {
    expect(parseAttemptPack(Buffer.from(text))).toEqual({ ok: false, reason });
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['no delivery', { deliveryId: '' }],
    ['a word with a space', { cycle: 'a b' }],
    ['an event id with a slash', { eventId: 'a/b' }],
    ['an unknown event type', { eventType: 'PIX' }],
    ['a tenant with a slash', { tenantId: 'a/b' }],
    ['an attempt 0', { attempt: 0 }],
    ['a time that no calendar has', { at: 8_640_000_000_000_000 }],
    ['a broken time', { at: 1.5 }],
    ['an origin that is none', { source: { topic: 't', partition: 0, offset: '-1' } }],
    ['a result that is none', { result: 'maybe' }],
    ['a status that is none', { status: 7 }],
    ['a next time that is none', { nextAt: 'soon' }],
    ['a negative duration', { durationMs: -1 }],
    ['no kind', { kind: 7 }],
  ])('loses only the entry with %s', (_what, damage) => {
    expect(parse({ v: 1, records: [{ ...failed, ...damage }, failed] })).toEqual({
      ok: true,
      records: [failed],
      fanOuts: [],
      damaged: 1,
    });
  });
});
