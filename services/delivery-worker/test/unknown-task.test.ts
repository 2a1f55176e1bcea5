import { TOPICS, taskHeaders } from '@webhooks/contracts';
import type { KafkaRecord, OutgoingRecord } from '@webhooks/kafka';
import { consumeTask, moveTask } from '../src/path/consume-task.js';
import { SettledMemory } from '../src/path/settled-memory.js';
import { buildTask } from './builders.js';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

/** A record as a newer version writes it, first due so long ago. */
function recordOf(ageMs: number, over: Readonly<Record<string, string>>): KafkaRecord {
  const task = buildTask({ firstDueAt: Date.now() - ageMs });
  const headers = Object.entries({ ...taskHeaders(task), ...over }).map(
    ([name, text]) => [name, Buffer.from(text)] as const,
  );
  return {
    ...{ topic: 'webhooks.retries.1s', partition: 0, offset: 7, timestamp: 0, size: 0 },
    ...{ key: Buffer.from('k'), value: task.body, headers: Object.fromEntries(headers) },
  };
}

const portsTo = (sent: OutgoingRecord[]) => ({
  publish: (outgoing: OutgoingRecord) => Promise.resolve(void sent.push(outgoing)),
  deliver: () => Promise.reject(new Error('it was delivered')),
  settled: new SettledMemory(1),
  damaged: () => undefined,
  maxAgeMs: 8 * DAY,
});

it.each([
  ['an event type', { 'event-type': 'PIX_NEW' }],
  ['a version', { 'task-version': '2' }],
])(
  'a task of %s that is not known waits, a quarter of its age, with its bytes and headers',
  async (_what, over) => {
    const sent: OutgoingRecord[] = [];
    // A second more: a quarter of it is more than the hour of the tier.
    const record = recordOf(240 * MINUTE + 1_000, over);
    const before = Date.now();
    await consumeTask(record, portsTo(sent));
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ topic: 'webhooks.retries.1h', key: record.key, value: record.value });
    const { 'due-at': dueAt, ...rest } = sent[0]?.headers ?? {};
    const { 'due-at': _due, ...original } = record.headers;
    expect(rest).toEqual(original);
    expect(Number(dueAt) - before).toBeGreaterThanOrEqual(60 * MINUTE);
  },
);

it('an unknown task waits a minute at first, at most 40 times, and is a dead letter at its greatest age', async () => {
  const unknown = { 'event-type': 'PIX_NEW' };
  const waits: number[] = [];
  for (let ageMs = 0; ageMs < 8 * DAY;) {
    const sent: OutgoingRecord[] = [];
    const before = Date.now();
    await consumeTask(recordOf(ageMs, unknown), portsTo(sent));
    const waitMs = Number(sent[0]?.headers?.['due-at']) - before;
    expect(waitMs).toBeGreaterThanOrEqual(MINUTE);
    waits.push(waitMs);
    ageMs += waitMs;
  }
  expect(waits[0]).toBeLessThan(2 * MINUTE);
  expect(waits.length).toBeLessThanOrEqual(40);
  const sent: OutgoingRecord[] = [];
  await consumeTask(recordOf(8 * DAY, unknown), portsTo(sent));
  expect(sent[0]).toMatchObject({
    topic: TOPICS.deadLetters,
    headers: { 'dead-reason': 'unknown-event-type' },
  });
});

it('a batch that cannot be unpacked is a dead letter that says so', async () => {
  const sent: OutgoingRecord[] = [];
  await consumeTask({ ...recordOf(0, {}), headers: {}, undecodable: 'codec 7' }, portsTo(sent));
  expect(sent).toMatchObject([{ topic: TOPICS.deadLetters, headers: { 'dead-reason': 'undecodable' } }]);
});

it('an unknown task that still waits moves to the tier that fits its rest', async () => {
  const sent: OutgoingRecord[] = [];
  const ports = { ...portsTo(sent), maxWaitMs: 9 * DAY };
  const dueAt = String(Date.now() + 180 * MINUTE);
  const headers = { 'task-version': '2', 'due-at': dueAt };
  await moveTask(recordOf(0, headers), ports);
  expect(sent[0]).toMatchObject({ topic: 'webhooks.retries.2h', headers: { 'due-at': dueAt } });
});
