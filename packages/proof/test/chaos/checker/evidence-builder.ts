import { createHash, createHmac } from 'node:crypto';
import { deliveryIdOf, renderNotification } from '@webhooks/contracts';
import type { AttemptLogEntry, PaymentEvent } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import { openCaseFile } from '../../../src/chaos/checker/case-file.js';
import { check } from '../../../src/chaos/checker/check.js';
import { expectedSums } from '../../../src/chaos/checker/check-content.js';
import type {
  Arrived,
  DeadSeen,
  EntrySeen,
  Evidence,
  Place,
  SeenStatement,
  TaskSeen,
} from '../../../src/chaos/evidence/evidence.js';
import type { DoneStep } from '../../../src/chaos/plan.js';
import type { Configuration } from '../../../src/chaos/world/configurations.js';

/** The start of the run, in Unix milliseconds; tests count in seconds from it. */
const T0 = 1_790_000_000_000;
export const at = (seconds: number): number => T0 + 1_000 * seconds;

export const REF = '11111111-1111-4111-8111-111111111111';
export const CONFIGURATION: Configuration = {
  ref: REF,
  tenantId: 'acme',
  eventType: 'PIX_OUT',
  receiver: 'steady',
  path: '/steady',
  treatment: 'left-alone',
};
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export const event: PaymentEvent = buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT' });
export const deliveryId = deliveryIdOf('acme', REF, event.id);
const body = renderNotification(event);

export const place = (topic: string, offset: number, seconds = 0): Place => ({
  topic,
  partition: 0,
  offset,
  appendedAt: at(seconds),
});

export const arrived = (seconds: number, over: Partial<Arrived> = {}): Arrived => ({
  id: event.id,
  path: CONFIGURATION.path,
  status: 200,
  receivedAt: at(seconds),
  attempt: 1,
  startedAtSeconds: Math.floor(at(seconds) / 1_000),
  digest: createHash('sha256').update(body).digest('hex'),
  ...over,
});

export function signedArrival(seconds: number, secret: string): Arrived {
  const plain = arrived(seconds);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const text = `${plain.id}.${plain.startedAtSeconds}.${body.toString()}`;
  const signature = `v1,unknown v1,${createHmac('sha256', key).update(text).digest('base64')}`;
  return { ...plain, signed: { signature, body: body.toString() } };
}

export const entry = (seconds: number, over: Partial<AttemptLogEntry> = {}): EntrySeen => ({
  place: place('webhooks.attempts', 1, seconds),
  entry: {
    kind: 'attempt',
    deliveryId,
    cycle: '0',
    eventId: event.id,
    eventType: 'PIX_OUT',
    tenantId: 'acme',
    ref: REF,
    revision: 1,
    attempt: 1,
    at: at(seconds),
    source: { topic: 'payments.events', partition: 0, offset: '5' },
    durationMs: 3,
    result: 'delivered',
    ...over,
  } as AttemptLogEntry,
});

export const task = (seconds: number, over: Partial<TaskSeen> = {}): TaskSeen => ({
  place: place('webhooks.retries.1s', 3, seconds),
  deliveryId,
  eventId: event.id,
  attempt: 2,
  dueAt: at(seconds + 1),
  history: [{ attempt: 1, at: at(seconds), durationMs: 2, result: 503 }],
  ...over,
});

export const dead = (seconds: number, over: Partial<DeadSeen> = {}): DeadSeen => ({
  place: place('webhooks.dead-letters', 0, seconds),
  deliveryId,
  eventId: event.id,
  attempt: 3,
  reason: 'attempts-exhausted',
  ...over,
});

/** Everything of the topics handled. */
const HANDLED = new Map([
  ['payments.events/0', 100],
  ['webhooks.retries.1s/0', 100],
]);

type Topics = Evidence['topics'];

/** One accepted event that one endpoint got at once: evidence without a finding. Times from 0 to 60 s; two retries. */
export function evidence(
  over: Partial<Omit<Evidence, 'topics'>> & { topics?: Partial<Topics> } = {},
): Evidence {
  const { topics, ...rest } = over;
  const made: Evidence = {
    configurations: [CONFIGURATION],
    sent: new Map([[event.id, { event, ingress: 'ingest', sentAt: at(0), acceptedAt: at(0.01) }]]),
    arrivals: [arrived(0.1)],
    changes: [],
    steps: [],
    log: new Map([[deliveryId, 'delivered']]),
    transactions: [{ endToEndId: event.data.endToEndId, amount: event.data.amount }],
    statements: [],
    listed: [{ ref: REF, enabled: true, path: CONFIGURATION.path }],
    schedule: { delaysMs: [1_000, 2_000], jitter: 0.2 },
    ...rest,
    topics: {
      copies: new Map([[event.id, [place('payments.events', 5)]]]),
      tasks: [],
      entries: [entry(0.1)],
      dead: [],
      rejected: [],
      unreadable: [],
      handledUpTo: HANDLED,
      ...topics,
    },
  };
  const file = openCaseFile(made);
  const statements = made.configurations.map(({ ref }) => {
    const sums = Object.entries(expectedSums(ref, file)).map(([name, { events, cents }]) => [
      name,
      { events, amount: (cents / 100).toFixed(2) },
    ]);
    return { ref, ...Object.fromEntries(sums) } as SeenStatement;
  });
  return { ...made, statements: over.statements ?? statements };
}

/** What the checker finds, in its order. */
export const kinds = (seen: Evidence): readonly string[] => check(seen).findings.map(({ kind }) => kind);

export const step = (from: number, to: number, over: Partial<DoneStep> = {}): DoneStep => ({
  track: 'system',
  fault: 'kill',
  target: 'delivery-worker',
  startedAt: at(from),
  takenBackAt: at(from),
  endedAt: at(to),
  outcome: 'done',
  ...over,
});

/** Nothing of it was delivered, and the log knows nothing either. */
export const undelivered = { arrivals: [], log: new Map() };
export const nowhere = { ...undelivered, topics: { entries: [] } };
/** Its endpoint is one that goes through much: what it is owed may wait. */
export const flaky = { configurations: [{ ...CONFIGURATION, receiver: 'flaky-1' as const }] };
