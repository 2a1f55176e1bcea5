import { TOPICS } from '@webhooks/contracts';
import type { AttemptPack } from '@webhooks/contracts';
import type { OutgoingRecord } from '@webhooks/kafka';
import { createAttemptLog } from '../src/publish/attempt-log.js';

const entry = (attempt: number) => ({
  kind: 'cancelled' as const,
  reason: 'disabled',
  deliveryId: 'd',
  cycle: '0',
  eventId: 'e',
  eventType: 'PIX_OUT' as const,
  tenantId: 'acme',
  ref: 'r',
  revision: 1,
  attempt,
  at: 1,
  source: { topic: 't', partition: 0, offset: '1' },
});

const packOf = (record: OutgoingRecord | undefined): AttemptPack =>
  JSON.parse(String(record?.value)) as AttemptPack;

describe('the attempt log', () => {
  it('packs entries of the same moment into one record, at most 256 each', async () => {
    const sent: OutgoingRecord[] = [];
    const log = createAttemptLog((record) => {
      sent.push(record);
      return Promise.resolve();
    });
    await Promise.all(Array.from({ length: 300 }, (_, index) => log.append(entry(index))));
    expect(sent.map((record) => record.topic)).toEqual([TOPICS.attempts, TOPICS.attempts]);
    expect(sent.map((record) => packOf(record).records.length)).toEqual([256, 44]);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(2);
  });

  it('gives each pack of each worker an identity of its own', async () => {
    const keys: unknown[] = [];
    const publish = ({ key }: OutgoingRecord) => Promise.resolve(void keys.push(key));
    for (const log of [createAttemptLog(publish), createAttemptLog(publish)])
      await Promise.all(Array.from({ length: 300 }, (_, index) => log.append(entry(index))));
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{8}-\d+$/);
  });

  it('rejects each entry of a pack that was not acknowledged', async () => {
    const log = createAttemptLog(() => Promise.reject(new Error('stopping')));
    const results = await Promise.allSettled([log.append(entry(1)), log.append(entry(2))]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('rejects each entry of a pack that cannot be encoded, and packs the next ones', async () => {
    const sent: OutgoingRecord[] = [];
    const log = createAttemptLog((record) => {
      sent.push(record);
      return Promise.resolve();
    });
    const poison = { ...entry(1), toJSON: () => missing() };
    const results = await Promise.allSettled([log.append(poison), log.append(entry(2))]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await log.append(entry(3));
    expect(sent.map((record) => packOf(record).records.length)).toEqual([1]);
  });
});

function missing(): never {
  throw new TypeError('a bug of ours');
}
