import { TOPICS } from '@webhooks/contracts';
import type { AttemptPack, PaymentEvent } from '@webhooks/contracts';
import { feedTopic, newReport, readFeedLine } from '@webhooks/ledger';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Answer, Endpoint } from '@webhooks/testkit';
import { followTopics } from './follow-topics.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

/** `WORKER_KILLS=50` is the long run; the few of every run take about a minute. */
const KILLS = Number(process.env['WORKER_KILLS'] ?? 4);
const EVENTS_FOR_EACH_KILL = 150;
const WORKERS = ['delivery-worker', 'delivery-worker-2', 'delivery-worker-3'] as const;
const HELD_MS = 4_500;
const LONG = { timeoutMs: 240_000, intervalMs: 250 };

/** How each endpoint responds, and what it received: a 2xx counts as delivered. */
class Receiver {
  readonly name: string;
  endpoint: Endpoint | undefined;
  readonly accepted = new Map<string, number>();
  /** When each 2xx was given, Unix milliseconds. */
  readonly acceptedAt: number[] = [];
  repeats = 0;
  readonly #behave: (nth: number) => Answer;

  constructor(name: string, behave: (nth: number) => Answer) {
    this.name = name;
    this.#behave = behave;
  }

  answer(id: string, nth: number): Answer {
    const answer = this.#behave(nth);
    if (answer.kind === 'status' && answer.status === 200) this.#note(id);
    return answer;
  }

  #note(id: string): void {
    const times = (this.accepted.get(id) ?? 0) + 1;
    this.accepted.set(id, times);
    this.acceptedAt.push(Date.now());
    if (times > 1) this.repeats += 1;
  }
}

const status = (code: number, delayMs = 0): Answer => ({ kind: 'status', status: code, delayMs });

let healed = false;
const receivers = [
  new Receiver('good', () => status(200)),
  new Receiver('slow', () => status(200, 1_000)),
  new Receiver('dead', () => (healed ? status(200) : { kind: 'cut', stage: 'before-answer' })),
  new Receiver('flapping', (nth) => (nth % 3 === 1 ? status(503) : status(200))),
];

let test: TestStack;
let unfollow: () => Promise<void>;
/** When each delivery was deferred, Unix milliseconds. One that was deferred and not committed is deferred again, and may be delivered twice. */
const parkedAt: number[] = [];
/** Of the receiver behind a `ref`. */
const nameOf = new Map<string, string>();
/** Event → what the workers reported about it, to examine one that is missing. */
const stories = new Map<string, string[]>();

function noteStory(value: Buffer | null): void {
  for (const entry of (JSON.parse(String(value)) as AttemptPack).records) {
    if (entry.kind === 'parked') parkedAt.push(entry.at);
    const detail = 'nextAt' in entry ? `next ${new Date(entry.nextAt ?? 0).toISOString()}` : '';
    const line = `${new Date(entry.at).toISOString()} ${nameOf.get(entry.ref) ?? ''} ${entry.kind} ${entry.attempt} ${detail}`;
    stories.set(entry.eventId, [...(stories.get(entry.eventId) ?? []), line]);
  }
}

beforeAll(async () => {
  const worker = {
    // As many attempts as may be configured: nothing is to die of the many bursts that a killed worker's breaker forgets.
    RETRY_DELAYS: Array.from({ length: 50 }, () => '1s').join(','),
    BREAKER_FIRST_PAUSE: '1s',
    BREAKER_MAX_PAUSE: '16s',
  };
  test = await startTestStack({ 'delivery-worker': worker });
  for (const name of WORKERS.slice(1)) await test.stack.fleet.startMore({ name, like: 'delivery-worker' });
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  const client = test.clientOf('acme');
  for (const receiver of receivers) {
    receiver.endpoint = await startEndpoint({
      certPem,
      keyPem,
      remember: 1,
      answer: ({ id }, nth) => receiver.answer(id, nth),
    });
    const { ref } = await client.register({ eventType: 'PIX_OUT', endpointUrl: receiver.endpoint.url });
    nameOf.set(ref, receiver.name);
  }
  const { kafkaBrokers } = test.stack.description();
  unfollow = await followTopics(kafkaBrokers, [TOPICS.attempts], ({ value }) => noteStory(value));
  const inForceAt = Date.now() + 1_000;
  await eventually(() => Date.now() > inForceAt);
}, 180_000);
afterAll(async () => {
  await unfollow();
  for (const { endpoint } of receivers) await endpoint?.close();
  await test.stop();
}, 120_000);

async function feed(count: number): Promise<readonly PaymentEvent[]> {
  const events = Array.from({ length: count }, () => buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT' }));
  const lines = events.map((event) => readFeedLine(JSON.stringify(event)));
  await feedTopic(test.stack.description().kafkaBrokers, lines, newReport());
  return events;
}

const totalAccepted = (): number => receivers.reduce((sum, { acceptedAt }) => sum + acceptedAt.length, 0);

/** Kills a worker that runs, at a moment nobody chose: after some more deliveries than the last time. */
async function killOne(): Promise<number> {
  const after = totalAccepted() + Math.floor(Math.random() * EVENTS_FOR_EACH_KILL);
  await eventually(() => totalAccepted() >= after, LONG);
  const victim = await eventually(() => {
    const { processes } = test.stack.description();
    const pid = processes[WORKERS[Math.floor(Math.random() * WORKERS.length)] ?? ''];
    return pid !== undefined && isAlive(pid) ? pid : false;
  }, LONG);
  process.kill(victim, 'SIGKILL');
  return Date.now();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The endpoints run in this process, so looking must be cheap: one case is printed and the rest are counted. */
function expectNothingMissing(events: readonly PaymentEvent[]): void {
  const missing = receivers.map(({ name, accepted }) => ({
    name,
    events: events.filter(({ id }) => !accepted.has(id)),
  }));
  const first = missing.find((one) => one.events.length > 0);
  if (first === undefined) return;
  const id = first.events[0]?.id ?? '';
  const counts = missing.map((one) => `${one.name} ${one.events.length}`).join(', ');
  const story = stories.get(id) ?? [];
  throw new Error(`missing: ${counts}; of ${first.name} the first is ${id}\n${story.join('\n')}`);
}

/** Turns of deliveries that were finished or under way, and perhaps not committed, when a worker was killed. */
const heldAt = (killedAt: number): number =>
  [...receivers.flatMap(({ acceptedAt }) => acceptedAt), ...parkedAt].filter(
    (at) => at >= killedAt - HELD_MS && at <= killedAt + HELD_MS,
  ).length;

it(`${KILLS} times kill -9 of one of three workers, under mixed traffic, loses nothing`, async () => {
  const events: PaymentEvent[] = [];
  const kills: number[] = [];
  while (kills.length < KILLS) {
    const feeding = feed(EVENTS_FOR_EACH_KILL);
    kills.push(await killOne());
    events.push(...(await feeding));
  }
  healed = true;
  await eventually(() => expectNothingMissing(events), {
    ...LONG,
    message: 'waiting for the ledger to balance',
  });
  const repeats = receivers.reduce((sum, receiver) => sum + receiver.repeats, 0);
  const bound = kills.reduce((sum, killedAt) => sum + heldAt(killedAt), 0);
  const owed = events.length * receivers.length;
  process.stdout.write(
    `${receivers.map((one) => `${one.name} ${one.repeats}`).join(', ')}; kills=${kills.length} owed=${owed} delivered=${owed} lost=0 repeats=${repeats} (bound ${bound})\n`,
  );
  expect(repeats).toBeLessThanOrEqual(bound);
  const ids = new Set(events.map(({ id }) => id));
  for (const { accepted } of receivers) expect([...accepted.keys()].filter((id) => !ids.has(id))).toEqual([]);
}, 1_800_000);
