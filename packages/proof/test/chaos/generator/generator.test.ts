import { createRandom, eventually } from '@webhooks/testkit';
import { generate, makeEvent } from '../../../src/chaos/generator/generator.js';
import type { Journal } from '../../../src/chaos/generator/generator.js';

it('makes the same facts of the same seed', () => {
  const make = (): readonly string[] => {
    const random = createRandom(3);
    return Array.from({ length: 1_000 }, () => makeEvent(random)).map(({ tenantId, eventType, data }) =>
      [tenantId, eventType, data.amount].join(' '),
    );
  };
  expect(make()).toEqual(make());
  expect(new Set(make().map((fact) => fact.split(' ')[0]))).toEqual(new Set(['acme', 'globex', 'initech']));
});

it('writes down what is sent before it is sent, what is accepted afterwards, and waits for the last answer', async () => {
  const journal: Journal = new Map();
  const stopping = new AbortController();
  const knownBefore: boolean[] = [];
  const running = generate({
    random: createRandom(1),
    eventsPerSecond: 200,
    doors: {
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
  expect(new Set(sent.map(({ door }) => door))).toEqual(new Set(['ingest', 'topic']));
  for (const { door, acceptedAt } of sent) expect(acceptedAt !== undefined).toBe(door === 'ingest');
});

it('ends with the first fault of a door', async () => {
  const running = generate({
    ...{ random: createRandom(1), eventsPerSecond: 200, stopping: new AbortController().signal },
    doors: {
      ingest: () => Promise.resolve([]),
      topic: () => Promise.reject(new Error('it says 500')),
    },
    journal: new Map(),
  });
  await expect(running).rejects.toMatchObject({
    message: 'a door failed',
    cause: { message: 'it says 500' },
  });
});
