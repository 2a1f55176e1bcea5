import { TOPICS, parseAttemptHistory } from '@webhooks/contracts';
import type { AttemptEntry, AttemptPack } from '@webhooks/contracts';
import { feedTopic, newReport, readFeedLine } from '@webhooks/testkit/account';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { followTopics } from './follow-topics.js';
import type { SeenRecord } from './follow-topics.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

/** The delays between attempts are divided by this: 20,000 takes a quarter of a minute, 100 takes 46 minutes. */
const DIVISOR = Number(process.env['SCHEDULE_DIVISOR'] ?? 20_000);
const PLAN_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400, 86_400];
/** 50 ms at least, as 5 s divided by 100: below it 200 deliveries measure the machine, not the schedule. */
const PLAN_MS = PLAN_SECONDS.map((seconds) => Math.max(50, Math.round((seconds * 1_000) / DIVISOR)));
const ATTEMPTS = 13;
const MAX_LATE_MS = 1_000;
/** A worker that is killed delivers again within this time, also on a loaded machine; what is due meanwhile may be late by it. */
const TAKEOVER_MS = 9_000;
/** What was settled is committed after 0.1 s: a kill later than this after an attempt repeats nothing. */
const COMMITTED_MS = 1_000;
/** After which attempts the worker is killed: all whose wait is long enough, only two of them in a short run. */
const KILLS = DIVISOR > 1_000 ? [11, 12] : [4, 5, 6, 7, 8, 9, 10, 11, 12];
const RUN_MS = PLAN_MS.reduce((sum, delay) => sum + 1.2 * delay, 60_000) + KILLS.length * TAKEOVER_MS;
const TIMEOUT = { timeoutMs: RUN_MS, intervalMs: 50 };

let test: TestStack;
let endpoint: Endpoint;
let unfollow: () => Promise<void>;
const attempts: AttemptEntry[] = [];
const deadLetters: SeenRecord[] = [];

function note(record: SeenRecord): void {
  if (record.topic === TOPICS.deadLetters) return void deadLetters.push(record);
  const { records } = JSON.parse(String(record.value)) as AttemptPack;
  attempts.push(...records.filter((entry) => entry.kind === 'attempt'));
}

beforeAll(async () => {
  const worker = {
    RETRY_DELAYS: PLAN_MS.map((delay) => `${delay}ms`).join(','),
    // The schedule alone is looked at here: at delays this short a breaker would open and defer.
    BREAKER_FAILURES: '1000000',
  };
  test = await startTestStack({ 'delivery-worker': worker });
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem, reply: 500 });
  const { kafkaBrokers } = test.stack.description();
  unfollow = await followTopics(kafkaBrokers, [TOPICS.attempts, TOPICS.deadLetters], note);
}, 120_000);
afterAll(async () => {
  await unfollow();
  await endpoint.close();
  await test.stop();
}, 120_000);

/** Sends events for a webhook of their own type and waits until it is certainly in force. Returns their ids. */
async function send(eventType: 'PIX_STATIC' | 'PIX_OUT' | 'PIX_REVERSAL', count: number): Promise<string[]> {
  const client = test.clientOf('acme');
  await client.register({ eventType, endpointUrl: `${endpoint.origin}/${eventType}` });
  const inForce = Date.now() + 1_000;
  await eventually(() => Date.now() > inForce);
  const events = Array.from({ length: count }, () => buildEvent({ eventType, tenantId: 'acme' }));
  const lines = events.map((event) => readFeedLine(JSON.stringify(event)));
  await feedTopic(test.stack.description().kafkaBrokers, lines, newReport());
  return events.map(({ id }) => id);
}

const attemptsOf = (eventId: string): AttemptEntry[] =>
  attempts.filter((entry) => entry.eventId === eventId).sort((a, b) => a.at - b.at);

interface Row {
  readonly attempt: number;
  /** The scheduled wait before it, and the wait with jitter. */
  readonly plannedMs: number;
  readonly waitMs: number;
  readonly due: number;
  readonly start: number;
  readonly lateMs: number;
  /** How late it may be besides, see `excuseFor`. */
  readonly excusedMs: number;
}

/** How late what is due then may be, for the takeover of a killed worker's partitions. */
function excuseFor(due: number, killedAt: readonly number[]): number {
  const kill = killedAt.findLast((at) => due >= at && due < at + TAKEOVER_MS);
  return kill === undefined ? 0 : kill + TAKEOVER_MS - due;
}

function rowOf(index: number, before: AttemptEntry, entry: AttemptEntry, killedAt: readonly number[]): Row {
  const { at, durationMs, nextAt: due = Number.NaN } = before;
  return {
    attempt: entry.attempt,
    plannedMs: PLAN_MS[index] ?? Number.NaN,
    waitMs: due - at - durationMs,
    due,
    start: entry.at,
    lateMs: entry.at - due,
    excusedMs: excuseFor(due, killedAt),
  };
}

/** Attempts 2 to 13, each compared with the due time in the record of the attempt before it. */
function rowsOf(eventId: string, killedAt: readonly number[]): Row[] {
  const all = attemptsOf(eventId);
  return all.slice(1).map((entry, index) => rowOf(index, all[index] ?? entry, entry, killedAt));
}

const clock = (at: number): string => new Date(at).toISOString().slice(11, 23);

function print(title: string, rows: readonly Row[]): void {
  const lines = rows.map(
    ({ attempt, plannedMs, waitMs, due, start, lateMs, excusedMs }) =>
      `${String(attempt).padStart(7)} ${String(plannedMs).padStart(9)} ms ${waitMs.toFixed(0).padStart(9)} ms  ${clock(due)}  ${clock(start)} ${String(lateMs).padStart(6)} ms${excusedMs > 0 ? '  (worker killed)' : ''}`,
  );
  const head = 'attempt      planned  with jitter  due           start         late by';
  process.stdout.write(`${title}\n${head}\n${lines.join('\n')}\n`);
}

function expectOnTime(rows: readonly Row[], maxLateMs = MAX_LATE_MS): void {
  expect(rows.map(({ attempt }) => attempt)).toEqual(PLAN_MS.map((_, index) => index + 2));
  for (const { plannedMs, waitMs, lateMs, excusedMs } of rows) {
    // Duration is rounded, and deciding takes a moment: 2 ms below, a quarter of a second above.
    expect(waitMs).toBeGreaterThanOrEqual(0.8 * plannedMs - 2);
    expect(waitMs).toBeLessThanOrEqual(1.2 * plannedMs + 250);
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(maxLateMs + excusedMs);
  }
}

/** What the endpoint itself saw: the same attempts, none before its time (two clocks of one machine: 50 ms). */
function expectArrivals(eventId: string): void {
  const seen = endpoint.arrivals.filter(({ id }) => id === eventId);
  const told = attemptsOf(eventId);
  expect(seen.map(({ headers }) => Number(headers['webhook-attempt']))).toEqual(
    told.map(({ attempt }) => attempt),
  );
  expect(seen).toHaveLength(ATTEMPTS);
  for (const [index, { startedAt }] of seen.slice(1).entries())
    expect(startedAt).toBeGreaterThanOrEqual((told[index]?.nextAt ?? Infinity) - 50);
}

function expectDeadLetter(eventId: string): void {
  const letters = deadLetters.filter(({ headers }) => headers['event-id'] === eventId);
  expect(letters).toHaveLength(1);
  const headers = letters[0]?.headers ?? {};
  expect(headers).toMatchObject({ 'dead-reason': 'attempts-exhausted', attempt: '13', 'http-status': '500' });
  expect(parseAttemptHistory(headers['history'])).toEqual(
    attemptsOf(eventId).map(({ attempt, at, durationMs }) => ({
      attempt,
      at,
      durationMs: Math.round(durationMs),
      result: 500,
    })),
  );
  expect(letters[0]?.value).toEqual(endpoint.arrivals.find(({ id }) => id === eventId)?.body);
}

const untilDead = (ids: readonly string[]): Promise<unknown> =>
  eventually(
    () => {
      const dead = new Set(deadLetters.map(({ headers }) => headers['event-id']));
      return ids.every((id) => dead.has(id) && attemptsOf(id).length >= ATTEMPTS);
    },
    { ...TIMEOUT, message: 'every delivery is among the dead letters' },
  );

/** Kills the worker, and waits until another process has taken its place. */
async function kill(): Promise<number> {
  const pid = () => test.stack.description().processes['delivery-worker'];
  const before = pid();
  if (before === undefined) throw new Error('no worker runs');
  const killedAt = Date.now();
  process.kill(before, 'SIGKILL');
  await eventually(() => ![undefined, before].includes(pid()), {
    timeoutMs: 60_000,
    message: 'the worker is started again',
  });
  return killedAt;
}

/** Kills the worker in the wait after an attempt: soon after it, or (each second time) soon before the next is due. */
async function killAfter(eventId: string, attempt: number): Promise<number | undefined> {
  const found = await eventually(
    () => attemptsOf(eventId).find((entry) => entry.attempt === attempt) ?? false,
    TIMEOUT,
  );
  const { at, nextAt = 0 } = found;
  const early = at + COMMITTED_MS;
  const moment = attempt % 2 === 0 ? Math.max(early, nextAt - 3_000) : early;
  if (moment >= nextAt) return undefined;
  await eventually(() => Date.now() >= moment, TIMEOUT);
  return kill();
}

it(
  'an endpoint that always fails gets 13 attempts, none early and none late, then one dead letter with the history',
  async () => {
    const [eventId = ''] = await send('PIX_STATIC', 1);
    await untilDead([eventId]);
    const rows = rowsOf(eventId, []);
    print(`undisturbed, delays divided by ${DIVISOR}`, rows);
    expectOnTime(rows);
    expectArrivals(eventId);
    expectDeadLetter(eventId);
  },
  RUN_MS,
);

it(
  '200 deliveries whose attempts are due side by side are never early, late only for want of capacity',
  async () => {
    const ids = await send('PIX_REVERSAL', 200);
    await untilDead(ids);
    const late = ids.flatMap((id) => rowsOf(id, []).map(({ lateMs }) => lateMs)).sort((a, b) => a - b);
    process.stdout.write(
      `200 deliveries, ${late.length} retries: late by ${late[Math.floor(late.length / 2)] ?? 0} ms in the median, ${late[Math.floor(late.length * 0.99)] ?? 0} ms at 99 %, ${late.at(-1) ?? 0} ms at most\n`,
    );
    // 200 at one moment are more than the endpoint's cap of 64, and than a busy machine does in a second: half are on time.
    expect(late[Math.floor(late.length / 2)]).toBeLessThan(MAX_LATE_MS);
    for (const id of ids) {
      expectOnTime(rowsOf(id, []), Infinity);
      expectArrivals(id);
      expectDeadLetter(id);
    }
  },
  RUN_MS,
);

it(
  'attempts are on time while the worker is killed between them, but for the takeover of its partitions',
  async () => {
    const [eventId = ''] = await send('PIX_OUT', 1);
    const killedAt: number[] = [];
    for (const attempt of KILLS) killedAt.push((await killAfter(eventId, attempt)) ?? Infinity);
    await untilDead([eventId]);
    const rows = rowsOf(eventId, killedAt);
    print(
      `worker killed ${killedAt.filter(Number.isFinite).length} times, delays divided by ${DIVISOR}`,
      rows,
    );
    expect(killedAt.filter(Number.isFinite).length).toBeGreaterThanOrEqual(DIVISOR > 1_000 ? 1 : 6);
    expectOnTime(rows);
    expectArrivals(eventId);
    expectDeadLetter(eventId);
  },
  RUN_MS,
);
