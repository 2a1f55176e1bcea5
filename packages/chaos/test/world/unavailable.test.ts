import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { ConnectionError, ProblemError } from '@webhooks/client';
import { mendClock, setClock } from '../../src/whims/clock.js';
import {
  isAwayOrOfWrongTime,
  isBrokerAway,
  isGroupNotEmpty,
  isServiceAway,
} from '../../src/world/unavailable.js';
import { chaosKafka } from '../../src/world/kafka-tools.js';

const place = { method: 'GET', origin: 'http://localhost' };
const problem = (status: number, code: string) =>
  new ProblemError({ type: '', title: '', status, code, detail: '', violations: [], members: {} });

it.each<[string, unknown, boolean]>([
  ['no answer', new ConnectionError(place, new Error('reset')), true],
  ['503', problem(503, 'unavailable'), true],
  ['500 without the database', problem(500, 'database-unavailable'), true],
  ['500 for a bug', problem(500, 'internal-error'), false],
  ['422', problem(422, 'invalid-request'), false],
  ['anything else', new TypeError('not a function'), false],
])('a service that is away: %s', (_, error, expected) => {
  expect(isServiceAway(error)).toBe(expected);
});

it('a token is refused by a service whose clock is wrong, or was a moment ago', () => {
  const clocks = mkdtempSync(join(tmpdir(), 'clocks-'));
  const past = new Date(Date.now() - 60_000);
  const isAway = isAwayOrOfWrongTime(clocks);
  const refused = (): boolean => {
    expect(isAway(problem(422, 'invalid-request'))).toBe(false);
    return isAway(problem(401, 'invalid-token'));
  };
  utimesSync(clocks, past, past);
  expect(refused()).toBe(false);
  setClock(clocks, process.pid, 600_000);
  utimesSync(clocks, past, past);
  expect(refused()).toBe(true);
  mendClock(clocks, process.pid);
  expect(refused()).toBe(true);
  utimesSync(clocks, past, past);
  expect(refused()).toBe(false);
  expect(isAway(problem(503, 'unavailable'))).toBe(true);
  rmSync(clocks, { recursive: true });
});

it('a broker that is away says so through kafkajs, as it is and wrapped', async () => {
  const admin = chaosKafka(['127.0.0.1:1']).admin({ retry: { retries: 0 } });
  const error: unknown = await admin.connect().catch((fault: unknown) => fault);
  expect(isBrokerAway(error)).toBe(true);
  expect(isBrokerAway(new Error('crashed', { cause: error }))).toBe(true);
  const made = new kafkajs.KafkaJSNonRetriableError('This is not the correct coordinator for this group');
  expect(isBrokerAway(made)).toBe(true);
  expect(isBrokerAway(new Error('the group did not let it in'))).toBe(false);
});

it('a group with members is told from other faults', () => {
  const text = 'The consumer group must have no running instances, current state: Stable';
  expect(isGroupNotEmpty(new Error(text))).toBe(true);
  expect(isGroupNotEmpty(new Error('Invalid topic'))).toBe(false);
});
