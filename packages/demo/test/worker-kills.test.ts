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
/** A turn that ended so long before a kill may not have been committed: one before it in its partition was still under way. */
const HELD_MS = 4_500;
/** So long after a kill its partitions have an owner, and the worker has come back and taken partitions from others. */
const TAKEN_OVER_MS = 15_000;
/** Copies of a delivery after a kill and the coming back, for each before: either may make each of them happen once more. */
const COPIES = 4;
const LONG = { timeoutMs: 240_000, intervalMs: 250 };

/** How each endpoint answers, and what it was told: a 2xx that it gave counts as delivered. */
class Receiver {
  readonly name: string;
  endpoint: Endpoint | undefined;
  /** Event → when each 2xx was given, Unix milliseconds. */
  readonly accepted = new Map<string, number[]>();
  /** Event → when each other answer was given, or none. */
  readonly failed = new Map<string, number[]>();
  /** Event → when it was parked, as far as the workers told of it. */
  readonly parked = new Map<string, number[]>();
  acceptances = 0;
  readonly #behave: (nth: number) => Answer;

  constructor(name: string, behave: (nth: number) => Answer) {
    this.name = name;
    this.#behave = behave;
  }

  answer(id: string, nth: number): Answer {
    const answer = this.#behave(nth);
    const accepts = answer.kind === 'status' && answer.status === 200;
    note(accepts ? this.accepted : this.failed, id, Date.now());
    if (accepts) this.acceptances += 1;
    return answer;
  }

  get repeats(): number {
    return this.acceptances - this.accepted.size;
  }
}

function note(times: Map<string, number[]>, id: string, at: number): void {
  const known = times.get(id);
  if (known) known.push(at);
  else times.set(id, [at]);
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
/** By `ref`. */
const receiverOf = new Map<string, Receiver>();
/** Event → what the workers told of it, for the day when one is missing. */
const stories = new Map<string, string[]>();

type Entry = AttemptPack['records'][number];

function storyLine(entry: Entry, receiver: string): string {
  const detail = 'nextAt' in entry ? `next ${new Date(entry.nextAt ?? 0).toISOString()}` : '';
  return `${new Date(entry.at).toISOString()} ${receiver} ${entry.kind} ${entry.attempt} ${detail}`;
}

function noteEntry(entry: Entry): void {
  const receiver = receiverOf.get(entry.ref);
  if (receiver === undefined) return;
  if (entry.kind === 'parked') note(receiver.parked, entry.eventId, entry.at);
  const told = stories.get(entry.eventId) ?? [];
  stories.set(entry.eventId, [...told, storyLine(entry, receiver.name)]);
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
    receiverOf.set(ref, receiver);
  }
  const { kafkaBrokers } = test.stack.description();
  unfollow = await followTopics(kafkaBrokers, [TOPICS.attempts], ({ value }) =>
    (JSON.parse(String(value)) as AttemptPack).records.forEach(noteEntry),
  );
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

const totalAccepted = (): number => receivers.reduce((sum, { acceptances }) => sum + acceptances, 0);

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

/** The endpoints live in this process: looking must cost them little, so one story is told and the rest counted. */
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

/**
 * The 2xx of one delivery that no kill explains: a turn happens once more when it was finished and not committed, or under
 * way, as a worker was killed or came back. So each repeat needs kills near earlier turns of this very delivery.
 */
function unexplained(receiver: Receiver, id: string, kills: readonly number[]): readonly number[] {
  const [, ...repeats] = receiver.accepted.get(id) ?? [];
  if (repeats.length === 0) return [];
  const turns = [receiver.accepted, receiver.failed, receiver.parked].flatMap((times) => times.get(id) ?? []);
  const near = (killedAt: number, before: number): boolean =>
    turns.some((turn) => turn < before && turn >= killedAt - HELD_MS && turn <= killedAt + TAKEN_OVER_MS);
  const killsBefore = (at: number): number =>
    kills.filter((killedAt) => killedAt < at && near(killedAt, at)).length;
  return repeats.filter((at, nth) => nth + 1 >= COPIES ** killsBefore(at));
}

/** Turns seen around a kill, of which any may have been finished or under way and not committed: a coarse bound of all repeats. */
function heldAt(killedAt: number): number {
  const times = receivers.flatMap(({ accepted, parked }) => [...accepted.values(), ...parked.values()]);
  return times.flat().filter((at) => at >= killedAt - HELD_MS && at <= killedAt + HELD_MS).length;
}

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
  const beyond = receivers.flatMap((receiver) =>
    events
      .filter(({ id }) => unexplained(receiver, id, kills).length > 0)
      .map(({ id }) => [receiver.name, ...(stories.get(id) ?? [])].join('\n')),
  );
  const owed = events.length * receivers.length;
  process.stdout.write(
    `${receivers.map((one) => `${one.name} ${one.repeats}`).join(', ')}; kills=${kills.length} owed=${owed} delivered=${owed} lost=0 repeats=${repeats} (bound ${bound}), unexplained=${beyond.length}\n`,
  );
  expect(beyond).toEqual([]);
  expect(repeats).toBeLessThanOrEqual(bound);
  const ids = new Set(events.map(({ id }) => id));
  for (const { accepted } of receivers) expect([...accepted.keys()].filter((id) => !ids.has(id))).toEqual([]);
}, 1_800_000);
