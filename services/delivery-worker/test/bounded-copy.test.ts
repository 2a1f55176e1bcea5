import { hash } from 'node:crypto';
import type { KafkaRecord } from '@webhooks/kafka';
import { boundedCopy } from '../src/publish/bounded-copy.js';

const record = (over: Partial<KafkaRecord>): KafkaRecord => ({
  topic: 'payments.events',
  partition: 3,
  offset: 77,
  timestamp: 0,
  key: Buffer.from('k'),
  value: Buffer.from('v'),
  headers: {},
  size: 2,
  ...over,
});

describe('a bounded copy', () => {
  it('is the record itself while it is small', () => {
    expect(boundedCopy(record({ headers: { a: Buffer.from('1') } }))).toEqual({
      key: Buffer.from('k'),
      value: Buffer.from('v'),
      headers: { a: Buffer.from('1') },
    });
  });

  it('has the record’s place as key when the record has no key, or one that is too long', () => {
    expect(boundedCopy(record({ key: null })).key).toBe('3/77');
    const copy = boundedCopy(record({ key: Buffer.alloc(17 * 1_048_576, 97) }));
    expect(copy.key).toBe('3/77');
    expect(copy.headers).toMatchObject({ 'original-key-size': String(17 * 1_048_576) });
  });

  it('cuts a long value, and notes its size and digest', () => {
    const copy = boundedCopy(record({ value: Buffer.alloc(100, 97) }), 10);
    expect(copy.value).toHaveLength(10);
    expect(copy.headers).toMatchObject({
      'original-value-size': '100',
      'original-value-sha256': hash('sha256', 'a'.repeat(100)),
    });
  });

  it('keeps headers up to 64 KiB', () => {
    const headers = { small: Buffer.from('1'), large: Buffer.alloc(70_000), later: Buffer.from('2') };
    expect(Object.keys(boundedCopy(record({ headers })).headers)).toEqual(['small']);
  });
});
