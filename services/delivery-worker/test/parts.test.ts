import { TOPICS } from '@webhooks/contracts';
import type { AttemptPack } from '@webhooks/contracts';
import type { OutgoingRecord } from '@webhooks/kafka';
import { createAttemptLog } from '../src/attempt-log.js';
import { EndpointGate } from '../src/endpoint-gate.js';
import { SettledMemory } from '../src/settled-memory.js';
import { buildTask } from './builders.js';

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
  it('packs what comes together into one record, at most 256 entries each', async () => {
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

  it('tells each of a pack when the pack was not acknowledged', async () => {
    const log = createAttemptLog(() => Promise.reject(new Error('stopping')));
    const results = await Promise.allSettled([log.append(entry(1)), log.append(entry(2))]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('the gate of an endpoint', () => {
  it('lets so many in and hands a slot to the first who waits', async () => {
    const gate = new EndpointGate(2);
    const order: string[] = [];
    await gate.enter('a');
    await gate.enter('a');
    const third = gate.enter('a').then(() => order.push('third'));
    const fourth = gate.enter('a').then(() => order.push('fourth'));
    await gate.enter('b');
    expect(order).toEqual([]);
    gate.leave('a');
    await third;
    gate.leave('a');
    await fourth;
    expect(order).toEqual(['third', 'fourth']);
  });
});

describe('the memory of settled attempts', () => {
  it('knows an attempt of a delivery, not the next one, nor a parked one', () => {
    const memory = new SettledMemory(10);
    memory.add(buildTask({ attempt: 2 }));
    expect(memory.has(buildTask({ attempt: 2 }))).toBe(true);
    expect(memory.has(buildTask({ attempt: 3 }))).toBe(false);
    expect(memory.has(buildTask({ attempt: 2, cycle: 'x' }))).toBe(false);
    expect(memory.has(buildTask({ attempt: 2, parkedCount: 1 }))).toBe(false);
  });

  it('forgets the oldest when it is full', () => {
    const memory = new SettledMemory(2);
    for (const attempt of [1, 2, 3]) memory.add(buildTask({ attempt }));
    expect([1, 2, 3].map((attempt) => memory.has(buildTask({ attempt })))).toEqual([false, true, true]);
  });
});
