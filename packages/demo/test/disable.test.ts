import { RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import type { AttemptPack, EventType } from '@webhooks/contracts';
import { feedTopic, newReport, findUnhandledRanges, readFeedLine } from '@webhooks/testkit/account';
import type { FeedLine, HandledPlace } from '@webhooks/testkit/account';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Reply, Endpoint } from '@webhooks/testkit';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { followTopics } from './follow-topics.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

/** No attempt starts later than this after a disabling PUT was answered. */
const BOUND_MS = 1_000;
const LONG = { timeoutMs: 60_000 };
const WORKERS: HandledPlace = {
  topics: [TOPICS.events, TOPICS.deliveries, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};

interface Case {
  readonly eventType: EventType;
  readonly events: number;
  readonly answer: Reply;
  /** The report about its deliveries that has to come before it is disabled. */
  readonly until: { readonly kind: string; readonly count: number };
}

const CASES: Readonly<Record<string, Case>> = {
  // Slow enough that thousands of events still wait for their first attempt when the configuration is disabled.
  'while events pour in': {
    eventType: 'PIX_STATIC',
    events: 5_000,
    answer: { kind: 'status', status: 200, delayMs: 50 },
    until: { kind: 'attempt', count: 500 },
  },
  'while its deliveries are deferred behind an open breaker': {
    eventType: 'PIX_OUT',
    events: 500,
    answer: { kind: 'status', status: 500 },
    // Each worker tells of its pauses, and a pause takes a second: by then all of them wait.
    until: { kind: 'deferred', count: 10 },
  },
  'while its deliveries wait for their retries': {
    eventType: 'PIX_REVERSAL',
    events: 5,
    answer: { kind: 'status', status: 503 },
    until: { kind: 'attempt', count: 10 },
  },
};

let test: TestStack;
let unfollow: () => Promise<void>;
let admin: Admin;
const endpoints: Endpoint[] = [];
const entries: AttemptPack['records'][number][] = [];

beforeAll(async () => {
  const worker = {
    RETRY_DELAYS: Array.from({ length: 50 }, () => '1s').join(','),
    BREAKER_FIRST_PAUSE: '1s',
    BREAKER_MAX_PAUSE: '1s',
  };
  test = await startTestStack({ 'delivery-worker': worker });
  for (const name of ['delivery-worker-2', 'delivery-worker-3'])
    await test.stack.fleet.startReplica({ name, like: 'delivery-worker' });
  const { kafkaBrokers } = test.stack.description();
  unfollow = await followTopics(kafkaBrokers, [TOPICS.attempts], ({ value }) => {
    entries.push(...(JSON.parse(String(value)) as AttemptPack).records);
  });
  admin = new kafkajs.Kafka({ brokers: [...kafkaBrokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
}, 180_000);
afterAll(async () => {
  await unfollow();
  await admin.disconnect();
  for (const endpoint of endpoints) await endpoint.close();
  await test.stop();
}, 120_000);

async function openEndpoint(reply: Reply): Promise<Endpoint> {
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  const endpoint = await startEndpoint({ certPem, keyPem, remember: 1, reply });
  endpoints.push(endpoint);
  return endpoint;
}

const linesOf = (eventType: EventType, count: number): readonly FeedLine[] =>
  Array.from({ length: count }, () =>
    readFeedLine(JSON.stringify(buildEvent({ tenantId: 'acme', eventType }))),
  );

const told = (ref: string, kind: string) =>
  entries.filter((entry) => entry.ref === ref && entry.kind === kind);

it.each(Object.entries(CASES))(
  'with three workers, no attempt starts later than 1 s after the response to a PUT with enabled false, %s',
  async (name, { eventType, events, answer, until }) => {
    const client = test.clientOf('acme');
    const endpoint = await openEndpoint(answer);
    const webhook = await client.register({ eventType, endpointUrl: `${endpoint.origin}/hook` });
    const inForceAt = Date.now() + BOUND_MS;
    await eventually(() => Date.now() > inForceAt);
    const { kafkaBrokers } = test.stack.description();
    const feeding = feedTopic(kafkaBrokers, linesOf(eventType, events), newReport());
    await eventually(
      () => expect(told(webhook.ref, until.kind).length).toBeGreaterThanOrEqual(until.count),
      LONG,
    );
    const { ref, endpointUrl } = webhook;
    await client.update({ ref, eventType, endpointUrl, enabled: false });
    const answeredAt = Date.now();
    await feeding;
    // After the last look no attempt can follow: everything is handled, and every report was read.
    await eventually(async () => expect(await findUnhandledRanges(admin, WORKERS)).toEqual([]), LONG);
    await eventually(
      () => expect(told(ref, 'attempt').length).toBeGreaterThanOrEqual(endpoint.stats().arrivals),
      LONG,
    );
    await eventually(() => expect(endedEvents(ref)).toEqual(knownEvents(ref)), LONG);
    const latest = Math.max(...told(ref, 'attempt').map(({ at }) => at));
    process.stdout.write(
      `${name}: attempts=${told(ref, 'attempt').length} deferred=${told(ref, 'deferred').length} cancelled=${told(ref, 'cancelled').length}, the last attempt started ${latest - answeredAt} ms after the answer\n`,
    );
    expect(latest - answeredAt).toBeLessThanOrEqual(BOUND_MS);
    expect(told(ref, 'cancelled').length).toBeGreaterThan(0);
  },
  180_000,
);

const eventsOf = (some: readonly { readonly eventId: string }[]): ReadonlySet<string> =>
  new Set(some.map(({ eventId }) => eventId));

/** Events that made a delivery for this configuration. */
const knownEvents = (ref: string) => eventsOf(entries.filter((entry) => entry.ref === ref));

const endedEvents = (ref: string) =>
  eventsOf(
    entries.filter(
      (entry) =>
        entry.ref === ref &&
        (entry.kind === 'cancelled' || ('result' in entry && entry.result === 'delivered')),
    ),
  );
