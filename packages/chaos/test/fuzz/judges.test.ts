import { TOPICS, deliveryIdOf } from '@webhooks/contracts';
import type { AttemptEntry } from '@webhooks/contracts';
import { buildEvent, createRandom } from '@webhooks/testkit';
import { judgeAnswer } from '../../src/fuzz/answers/answers-door.js';
import type { RawAnswer } from '../../src/fuzz/answers/make-answer.js';
import { FUZZ_TENANTS } from '../../src/fuzz/fuzz-world.js';
import { randomFor } from '../../src/fuzz/mutants/random-for.js';
import { Notes } from '../../src/fuzz/notes.js';
import { placeOf } from '../../src/fuzz/topics/fuzz-record.js';
import type { WrittenRecord } from '../../src/fuzz/topics/fuzz-record.js';
import { judgeRecords } from '../../src/fuzz/topics/judge-records.js';
import { makeRecord } from '../../src/fuzz/topics/make-record.js';
import { configurationOf, eventOf, taskOf } from '../../src/fuzz/topics/read-record.js';
import { Seen, attemptOf, cycleOf } from '../../src/fuzz/topics/seen.js';

const refOf = (eventType: string): string => `ref-of-${eventType}`;
const CONTEXT = { refOf, attackedKey: 'a/b', origin: 'https://localhost:1234' };
const RECORDS: readonly WrittenRecord[] = Array.from({ length: 600 }, (_, index) => ({
  ...makeRecord(randomFor(1, 'topics', index), CONTEXT, index),
  offset: index,
}));

const validOn = (topic: string): WrittenRecord => {
  const record = RECORDS.find(({ topic: of, isValid }) => isValid && of === topic);
  if (!record) throw new Error(`expected an undamaged record for ${topic}`);
  return record;
};

/** The faults of one record, with what `see` says that the services made of it. */
function faultsOf(
  record: WrittenRecord,
  see: (seen: Seen) => void,
  arrived: ReadonlyMap<string, Set<string>> = new Map(),
) {
  const seen = new Seen();
  see(seen);
  const notes = new Notes('topics');
  judgeRecords([record], new Set(), { seen, arrived, refOf, notes });
  return notes.findings.map(({ what }) => what);
}

describe('the answer of a receiver', () => {
  const event = buildEvent({}, createRandom(1));
  const faults = (bytes: string, mustSucceed: boolean, entry: Partial<AttemptEntry>, afterMs = 10) => {
    const answer: RawAnswer = { bytes: Buffer.from(bytes), then: 'end', mustSucceed };
    const attempt = { ...entry, eventId: event.id, at: 1_000 } as AttemptEntry;
    const later = { result: 'delivered', status: 200 } as AttemptEntry;
    const notes = new Notes('answers');
    const attempts = new Map([2, 3].map((at) => [at, at === 2 ? attempt : later]));
    judgeAnswer({ index: 0, answer }, { by: 2, at: 1_000 + afterMs }, attempts, notes);
    return notes.findings.map(({ what }) => what);
  };
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

  it('that is whole and good has to be counted as delivered by the attempt that got it', () => {
    expect(faults(OK, true, { result: 'delivered', status: 200 })).toEqual([]);
    expect(faults(OK, true, { result: 'failed', error: 'RESET' })).toEqual([
      'not counted as delivered: failed RESET',
    ]);
    expect(faults(OK, false, { result: 'failed', error: 'RESET' })).toEqual([]);
    expect(faults(OK, true, { result: 'failed', error: 'TIMEOUT' }, 9_000)).toEqual([]);
  });

  it('is not good because its body looks like a good one', () => {
    const entry = { result: 'delivered', status: 200 } as const;
    expect(faults(`HTTP/1.1 503 No\r\n\r\n${OK}`, false, entry)).toEqual([
      'counted as delivered: delivered 200',
    ]);
    expect(faults(`HTTP/1.1 103 Hints\r\nlink: x\r\n\r\n${OK}`, false, entry)).toEqual([]);
  });
});

describe('an undamaged record', () => {
  it('is among the made ones for every topic, and reads as it was made', () => {
    const valid = RECORDS.filter(({ isValid }) => isValid);
    expect(valid.length).toBeLessThan(RECORDS.length / 2);
    for (const { topic } of RECORDS.filter(({ topic }) => !topic.startsWith('webhooks.retries')))
      expect(validOn(topic).topic).toBe(topic);
    const unmarked = valid.map((record) => ({ ...record, isValid: false }));
    for (const record of unmarked.filter(({ topic }) => topic === TOPICS.events))
      expect(eventOf(record)).toEqual(eventOf({ ...record, isValid: true }));
    for (const record of unmarked.filter(({ topic }) => topic === TOPICS.configurations))
      expect(configurationOf(record)).toEqual(configurationOf({ ...record, isValid: true }));
    for (const record of unmarked.filter(({ topic }) => topic === TOPICS.deliveries))
      expect(taskOf(record)).toMatchObject(taskOf({ ...record, isValid: true }));
  });

  it('that is an event has to arrive, whatever the parser of the services says', () => {
    const record = validOn(TOPICS.events);
    const event = buildEvent({ tenantId: FUZZ_TENANTS.topics }, createRandom(1));
    const unknown = { ...record, value: Buffer.from(JSON.stringify({ ...event, eventType: 'NEW' })) };
    const reject = (seen: Seen) =>
      seen.rejected.set(placeOf(record), { reason: 'unknown-event-type', value: unknown.value });
    expect(faultsOf({ ...unknown, isValid: false }, reject)).toEqual([]);
    expect(faultsOf(unknown, reject)).toEqual(['a valid event was rejected as unknown-event-type']);
    expect(faultsOf(record, () => undefined)).toEqual(['a valid event did not arrive']);
    const read = eventOf(record);
    if (!read.ok) throw new Error('expected an event');
    const { eventType, id } = read.is;
    expect(faultsOf(record, () => undefined, new Map([[`/events/${eventType}`, new Set([id])]]))).toEqual([]);
  });

  it('that is a task has to be attempted, and to arrive whatever is told of it', () => {
    const record = validOn(TOPICS.deliveries);
    const read = taskOf(record);
    if (!read.ok) throw new Error('expected a task');
    const { eventType, eventId, deliveryId, tenantId, ref } = read.is;
    expect(deliveryId).toBe(deliveryIdOf(tenantId, ref, eventId));
    const tell = (seen: Seen) => seen.told.add(placeOf(record));
    const attempt = (seen: Seen) => seen.attempted.set(attemptOf(read.is), 'delivered');
    const arrived = new Map([[`/events/${eventType}`, new Set([eventId])]]);
    expect(faultsOf(record, tell)).toEqual(['a task of a registered configuration was not attempted']);
    expect(faultsOf(record, attempt)).toEqual(['told as delivered, and did not arrive']);
    expect(faultsOf(record, attempt, arrived)).toEqual([]);
    const fail = (seen: Seen) => seen.attempted.set(attemptOf(read.is), 'failed');
    const failAndEnd = (seen: Seen) => {
      fail(seen);
      seen.ended.add(cycleOf(read.is));
    };
    expect(faultsOf(record, fail)).toEqual(['an undamaged task did not arrive']);
    expect(faultsOf(record, failAndEnd)).toEqual(['an undamaged task did not arrive']);
    expect(faultsOf(record, fail, arrived)).toEqual([]);
    const damaged = { ...record, isValid: false };
    expect(faultsOf(damaged, fail)).toEqual(['a task did not arrive, and has no end']);
    expect(faultsOf(damaged, failAndEnd)).toEqual([]);
    const elsewhere = { ...record, isValid: false, headers: { ...record.headers, 'tenant-id': 'acme' } };
    expect(faultsOf(elsewhere, tell)).toEqual([]);
  });
});
