import { ConnectionError, ProblemError } from '@webhooks/client';
import type { EventResult } from '@webhooks/client';
import { PROBLEMS } from '@webhooks/contracts';
import type { ProblemCode } from '@webhooks/contracts';
import { buildEvent, createRandom, eventually } from '@webhooks/testkit';
import {
  createIngestSender,
  isServiceUnavailable,
  generate,
  makeEvent,
} from '../../../src/chaos/generator/generator.js';
import type { Journal } from '../../../src/chaos/generator/generator.js';

const [first, second] = [buildEvent(), buildEvent()];
const lost = new ConnectionError({ method: 'POST', origin: 'http://localhost' }, new Error('reset'));
const problem = (code: ProblemCode) => {
  const { status, title } = PROBLEMS[code];
  return new ProblemError({ type: '', title, status, code, detail: '', violations: [], members: {} });
};

const give = (respond: () => Promise<readonly EventResult[]>) =>
  createIngestSender({ postEvents: respond })([first, second]);
const refused = (error: Error) => give(() => Promise.reject(error));
const reported = (...statuses: EventResult['status'][]) =>
  give(() => Promise.resolve(statuses.map((status, index) => ({ index, status }))));

describe('the ingress ingest', () => {
  it('promises what was accepted, and nothing of what is unavailable', async () => {
    expect(await reported('accepted', 'accepted')).toEqual([first, second]);
    expect(await reported('unavailable', 'accepted')).toEqual([second]);
  });

  it.each([
    lost,
    ...(['unavailable', 'database-unavailable', 'keys-unavailable', 'too-many-requests'] as const).map(
      problem,
    ),
  ])('promises nothing when the service is down or at its limit: %s', async (error) => {
    expect(await refused(error)).toEqual([]);
  });

  it.each(
    (['internal-error', 'invalid-request', 'invalid-token', 'insufficient-scope', 'not-found'] as const).map(
      problem,
    ),
  )('fails for any other response to valid events: %s', async (error) => {
    await expect(refused(error)).rejects.toBe(error);
  });

  it('fails when an event is refused, or has no result', async () => {
    await expect(reported('accepted', 'invalid')).rejects.toThrow(
      `reported invalid for the valid event ${second.id}`,
    );
    await expect(reported('forbidden-tenant', 'accepted')).rejects.toThrow('reported forbidden-tenant');
    await expect(reported('accepted')).rejects.toThrow('reported nothing');
  });
});

it.each<[string, unknown, boolean]>([
  ['no response', lost, true],
  ['503', problem('unavailable'), true],
  ['500 without the database', problem('database-unavailable'), true],
  ['500 for a bug', problem('internal-error'), false],
  ['422', problem('invalid-request'), false],
  ['anything else', new TypeError('not a function'), false],
])('a service that is away: %s', (_, error, expected) => {
  expect(isServiceUnavailable(error)).toBe(expected);
});

it('the generator makes the same facts of the same seed', () => {
  const make = (): readonly string[] => {
    const random = createRandom(3);
    return Array.from({ length: 1_000 }, () => makeEvent(random)).map(({ tenantId, eventType, data }) =>
      [tenantId, eventType, data.amount].join(' '),
    );
  };
  expect(make()).toEqual(make());
  expect(new Set(make().map((fact) => fact.split(' ')[0]))).toEqual(new Set(['acme', 'globex', 'initech']));
});

it('the journal has an event before it is sent, and its acceptance afterwards; the end waits for the last response', async () => {
  const journal: Journal = new Map();
  const stopping = new AbortController();
  const knownBefore: boolean[] = [];
  const running = generate({
    random: createRandom(1),
    eventsPerSecond: 200,
    ingresses: {
      ingest: (events) => {
        knownBefore.push(
          events.every(({ id }) => journal.get(id)?.acceptedAt === undefined && journal.has(id)),
        );
        return Promise.resolve(events);
      },
      topic: () => Promise.resolve([]),
    },
    journal,
    stopping: stopping.signal,
  });
  await eventually(() => knownBefore.length >= 2);
  stopping.abort();
  await running;
  expect(knownBefore).not.toContain(false);
  const sent = [...journal.values()];
  expect(new Set(sent.map(({ ingress }) => ingress))).toEqual(new Set(['ingest', 'topic']));
  for (const { ingress, acceptedAt } of sent) expect(acceptedAt !== undefined).toBe(ingress === 'ingest');
});

it('the generator ends with the first fault of an ingress', async () => {
  const running = generate({
    ...{ random: createRandom(1), eventsPerSecond: 200, stopping: new AbortController().signal },
    ingresses: {
      ingest: () => Promise.resolve([]),
      topic: () => Promise.reject(new Error('it says 500')),
    },
    journal: new Map(),
  });
  await expect(running).rejects.toMatchObject({
    message: 'an ingress failed',
    cause: { message: 'it says 500' },
  });
});
