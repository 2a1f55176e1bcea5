import { Attempt } from '../../src/attempt.js';
import type { OriginPool } from '../../src/pool/origin-pool.js';
import { SendFailure } from '../../src/send-failure.js';
import { WaitingAttempts } from '../../src/pool/waiting-attempts.js';

const OWNER = { attemptTimeoutMs: 1_000, release: () => undefined };

function attempts(count: number): { attempt: Attempt; result: Promise<unknown> }[] {
  return Array.from({ length: count }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const request = { path: '/', headers: [], body: Buffer.alloc(0) };
    return { attempt: new Attempt(OWNER, {} as OriginPool, request, { resolve, reject }), result: promise };
  });
}

it('gives them in the order in which they came, but for those that left', () => {
  const waiting = new WaitingAttempts();
  const [first, second, third] = attempts(3).map(({ attempt }) => attempt);
  if (!first || !second || !third) throw new Error('expected three');
  for (const one of [first, second, third]) waiting.add(one);
  expect(waiting.remove(second)).toBe(true);
  expect(waiting.remove(second)).toBe(false);
  expect(waiting.size).toBe(2);
  expect([waiting.take(false), waiting.take(false), waiting.take(false)]).toEqual([first, third, undefined]);
});

it('tells since when the first of them is under way', () => {
  const waiting = new WaitingAttempts();
  const [first, second] = attempts(2).map(({ attempt }) => attempt);
  if (!first || !second) throw new Error('expected two');
  expect(waiting.firstSince).toBe(Infinity);
  waiting.add(second);
  waiting.add(first, true);
  expect(waiting.firstSince).toBe(first.startedAt);
});

it('gives one that comes back before the others', () => {
  const waiting = new WaitingAttempts();
  const [first, second] = attempts(2).map(({ attempt }) => attempt);
  if (!first || !second) throw new Error('expected two');
  waiting.add(first);
  waiting.add(second, true);
  expect([waiting.take(false), waiting.take(false)]).toEqual([second, first]);
});

it('fails the longest, and of the others those that began early enough', async () => {
  const waiting = new WaitingAttempts();
  const [longest, other] = attempts(2);
  if (!longest || !other) throw new Error('expected two');
  waiting.add(longest.attempt);
  waiting.add(other.attempt);
  const failure = new SendFailure('CONNECT', 'ECONNREFUSED');
  waiting.fail(failure, -Infinity);
  expect(await longest.result).toMatchObject({ kind: 'unreachable', code: 'ECONNREFUSED' });
  expect(waiting.size).toBe(1);
  waiting.fail(failure, Number.POSITIVE_INFINITY);
  expect(await other.result).toMatchObject({ kind: 'unreachable', code: 'ECONNREFUSED' });
  expect(waiting.size).toBe(0);
});
