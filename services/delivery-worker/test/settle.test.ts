import { parseAttemptHistory, parseDeliveryTask, RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import type { DeliveryTask, PackEntry } from '@webhooks/contracts';
import type { OutgoingRecord } from '@webhooks/kafka';
import type { AttemptOutcome } from '../src/path/attempt.js';
import type { Settled } from '../src/path/settle.js';
import { settle } from '../src/path/settle.js';
import { buildTask } from './builders.js';

const AT = 1_795_269_803_100;
const source = { topic: 'payments.events', partition: 0, offset: '1' };
const refused: AttemptOutcome = { kind: 'refused', status: 503, durationMs: 12 };
const timedOut: AttemptOutcome = { kind: 'unreachable', error: 'TIMEOUT', code: 'DEADLINE', durationMs: 9 };

interface Written {
  readonly record: OutgoingRecord | undefined;
  readonly entries: readonly PackEntry[];
}

/** What a settlement writes, and in which order. */
async function written(over: Partial<Settled>): Promise<Written> {
  const steps: string[] = [];
  const records: OutgoingRecord[] = [];
  const entries: PackEntry[] = [];
  await settle(
    { task: buildTask(), source, outcome: undefined, at: AT, settlement: { kind: 'delivered' }, ...over },
    {
      publish: async (record) => {
        await Promise.resolve();
        records.push(record);
        steps.push('published');
      },
      attemptLog: {
        append: (entry) => {
          entries.push(entry);
          steps.push('told');
          return Promise.resolve();
        },
      },
    },
  );
  if (records.length > 0 && over.settlement?.kind !== 'deferred') expect(steps[0]).toBe('published');
  expect(records.length).toBeLessThanOrEqual(1);
  return { record: records[0], entries };
}

function taskOf({ record }: Written): DeliveryTask {
  const value = record?.value;
  const parsed = parseDeliveryTask(record?.headers ?? {}, Buffer.isBuffer(value) ? value : null);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.task;
}

describe('a settled attempt', () => {
  it('that delivered writes only its entry in the attempt log', async () => {
    const result = await written({ outcome: { kind: 'accepted', status: 200, durationMs: 3 } });
    expect(result.record).toBeUndefined();
    expect(result.entries).toMatchObject([{ kind: 'attempt', result: 'delivered', status: 200 }]);
  });

  it('that failed is retried later with its history', async () => {
    const dueAt = Date.now() + 5_500;
    const first = await written({ outcome: refused, settlement: { kind: 'retry', dueAt } });
    expect(first.record?.topic).toBe('webhooks.retries.5s');
    const task = taskOf(first);
    expect(task).toMatchObject({
      attempt: 2,
      dueAt,
      firstAttemptAt: AT,
      errorCode: 'STATUS',
      httpStatus: 503,
    });
    const second = await written({
      task,
      at: AT + 7,
      outcome: timedOut,
      settlement: { kind: 'retry', dueAt: dueAt + 1 },
    });
    const later = taskOf(second);
    expect(later).toMatchObject({ attempt: 3, firstAttemptAt: AT, errorCode: 'TIMEOUT' });
    expect(later.httpStatus).toBeUndefined();
    expect(parseAttemptHistory(later.history)).toEqual([
      { attempt: 1, at: AT, durationMs: 12, result: 503 },
      { attempt: 2, at: AT + 7, durationMs: 9, result: 'TIMEOUT', code: 'DEADLINE' },
    ]);
  });

  it('that was the last one makes a dead letter with the reason and the whole history', async () => {
    const task = buildTask({
      attempt: 2,
      history: `v1 1:${AT}:12:503`,
      errorCode: 'STATUS',
      httpStatus: 503,
    });
    const result = await written({
      task,
      at: AT + 9,
      outcome: timedOut,
      settlement: { kind: 'dead', reason: 'attempts-exhausted' },
    });
    expect(result.record).toMatchObject({
      topic: TOPICS.deadLetters,
      key: task.deliveryId,
      value: task.body,
    });
    expect(result.record?.headers).toMatchObject({
      'dead-reason': 'attempts-exhausted',
      'dead-at': String(AT + 9),
      'error-code': 'TIMEOUT',
      attempt: '2',
      history: `v1 1:${AT}:12:503 2:${AT + 9}:9:TIMEOUT:DEADLINE`,
    });
    expect(result.record?.headers).not.toHaveProperty('http-status');
    expect(result.entries.map(({ kind }) => kind)).toEqual(['attempt', 'dead']);
  });
});

describe('a task without an attempt', () => {
  it('that is deferred is logged while its record is written, and settled when both are acknowledged', async () => {
    const acks = { record: Promise.withResolvers<undefined>(), entry: Promise.withResolvers<undefined>() };
    const begun: string[] = [];
    const acknowledged: string[] = [];
    const settled = settle(
      {
        task: buildTask(),
        source,
        outcome: undefined,
        at: AT,
        settlement: { kind: 'deferred', dueAt: AT, reason: 'busy', isLogged: true },
      },
      {
        publish: async () => {
          begun.push('record');
          await acks.record.promise;
          acknowledged.push('record');
        },
        attemptLog: {
          append: async () => {
            begun.push('entry');
            await acks.entry.promise;
            acknowledged.push('entry');
          },
        },
      },
    ).then(() => [...acknowledged]);
    expect(begun).toEqual(['record', 'entry']);
    acks.entry.resolve(undefined);
    await acks.entry.promise;
    acks.record.resolve(undefined);
    expect(await settled).toEqual(['entry', 'record']);
  });

  it('is deferred with its history and one deferral more, and is logged when it or a pause begins', async () => {
    const task = buildTask({ attempt: 2, history: `v1 1:${AT}:12:503`, deferralCount: 4 });
    const dueAt = Date.now() + 31_000;
    const settlement = { kind: 'deferred', reason: 'busy', dueAt } as const;
    const first = await written({ task, settlement: { ...settlement, isLogged: true } });
    expect(taskOf(first)).toEqual({ ...task, dueAt, deferralCount: 5 });
    expect(first.entries).toMatchObject([{ kind: 'deferred', nextAt: dueAt }]);
    const next = await written({ task, settlement: { ...settlement, isLogged: false } });
    expect(taskOf(next)).toEqual({ ...task, dueAt, deferralCount: 5 });
    expect(next.entries).toEqual([]);
    for (const cycle of ['0', 'job_1']) {
      const begun = buildTask({ cycle, attempt: 1, deferralCount: 0 });
      const { entries } = await written({ task: begun, settlement: { ...settlement, isLogged: false } });
      expect(entries).toMatchObject([{ kind: 'deferred', cycle }]);
    }
  });

  it('that is dead keeps the history of its attempts', async () => {
    const task = buildTask({
      attempt: 2,
      history: `v1 1:${AT}:12:503`,
      errorCode: 'STATUS',
      httpStatus: 503,
    });
    const result = await written({ task, settlement: { kind: 'dead', reason: 'configuration-unknown' } });
    expect(result.record?.headers).toMatchObject({ history: task.history, 'http-status': '503' });
    expect(result.entries.map(({ kind }) => kind)).toEqual(['dead']);
  });

  it('that is cancelled writes only its entry in the attempt log', async () => {
    const result = await written({ settlement: { kind: 'cancelled', reason: 'disabled' } });
    expect(result.record).toBeUndefined();
    expect(result.entries).toMatchObject([{ kind: 'cancelled', reason: 'disabled' }]);
  });
});

describe('the tier of a wait', () => {
  it.each(RETRY_TIERS.map(({ name, topic }) => [name, topic]))(
    '%s is chosen by the rest',
    async (name, topic) => {
      const waits = ['1s', '5s', '30s', '2m', '10m', '30m', '1h', '2h', '4h', '8h', '12h', '24h'];
      const ms = [1, 5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400];
      const waitMs = (ms[waits.indexOf(name)] ?? 0) * 1_000 + 900;
      const result = await written({
        outcome: refused,
        settlement: { kind: 'retry', dueAt: Date.now() + waitMs },
      });
      expect(result.record?.topic).toBe(topic);
    },
  );
});
