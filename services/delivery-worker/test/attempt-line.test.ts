import { causeOf } from '@webhooks/contracts';
import { Registry } from '@webhooks/runtime';
import { createObservers } from '../src/observe/attempt-line.js';
import { buildTask } from './builders.js';

const SOURCE = { topic: 'payments.events', partition: 0, offset: '1' };
const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const silent = (): undefined => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };

/** Sums of the timings, in seconds, after one success of this task, which took no time. */
async function timingsOf(over: Parameters<typeof buildTask>[0]): Promise<Record<string, number>> {
  const registry = new Registry();
  createObservers(registry, log, 1).settled({
    task: buildTask(over),
    source: SOURCE,
    outcome: { kind: 'accepted', status: 200, durationMs: 0 },
    at: NOW,
    settlement: { kind: 'delivered' },
  });
  const sums = (await registry.metrics()).matchAll(/^webhook_(\w+)_seconds_sum (\S+)$/gm);
  return Object.fromEntries<number>(
    [...sums].map(([, name = '', seconds]) => [name, Number(seconds)] as const),
  );
}

const ago = (seconds: number): number => NOW - 1_000 * seconds;

describe('how long a delivery has waited', () => {
  it('is since Kafka had its event, at its first attempt', async () => {
    const timings = await timingsOf({ dueAt: ago(9), firstDueAt: ago(2) });
    expect(timings).toMatchObject({ first_attempt_delay: 9, delivery: 9, retry_lateness: 0 });
  });

  it('is since its event was read, when it was deferred before its first attempt, which is not late by that', async () => {
    const timings = await timingsOf({ dueAt: ago(1), firstDueAt: ago(30), deferralCount: 3 });
    expect(timings).toMatchObject({ first_attempt_delay: 0, delivery: 30, retry_lateness: 0 });
  });

  it('is since its event was read at a retry, which is late by the time since it was due', async () => {
    const timings = await timingsOf({ attempt: 2, dueAt: ago(1), firstDueAt: ago(30) });
    expect(timings).toMatchObject({ first_attempt_delay: 0, delivery: 30, retry_lateness: 1 });
  });
});

it('the line of a failed attempt has its class, its code and its cause', () => {
  const lines: unknown[] = [];
  const observers = createObservers(new Registry(), { ...log, info: (_, fields) => lines.push(fields) }, 1);
  observers.settled({
    task: buildTask(),
    source: SOURCE,
    outcome: { kind: 'unreachable', error: 'TLS', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', durationMs: 7 },
    at: NOW,
    settlement: { kind: 'retry', dueAt: NOW },
  });
  const failure = { error: 'TLS', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' };
  expect(lines).toMatchObject([{ ...failure, cause: causeOf(failure) }]);
});

describe('a fault of observing', () => {
  const broken = () => {
    throw new TypeError('a bug of ours');
  };

  it('is logged, and the delivery stays settled', () => {
    const told: unknown[] = [];
    const observers = createObservers(
      new Registry(),
      { ...log, info: broken, warn: broken, error: (_line, fields) => told.push(fields?.['error']) },
      1,
    );
    observers.settled({
      task: buildTask(),
      source: SOURCE,
      outcome: { kind: 'accepted', status: 200, durationMs: 0 },
      at: NOW,
      settlement: { kind: 'delivered' },
    });
    observers.event({ rejected: { ...SOURCE, offset: 1, reason: 'not-json' } });
    expect(told).toEqual(['TypeError: a bug of ours', 'TypeError: a bug of ours']);
  });
});
