import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildEvent, createRandom, eventually } from '@webhooks/testkit';
import { generate, makeEvent } from '../../src/generator/generator.js';
import { openJournal, readJournal } from '../../src/generator/journal.js';
import type { JournalLine } from '../../src/generator/journal.js';

const folder = mkdtempSync(join(tmpdir(), 'journal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('tells of each event when it was sent and, if it was, when it was accepted', async () => {
  const file = join(folder, 'plain');
  const journal = openJournal(file);
  const [kept, refused] = [buildEvent(), buildEvent()];
  journal.append([
    { kind: 'sent', at: 1, door: 'ingest', event: kept },
    { kind: 'sent', at: 1, door: 'topic', event: refused },
  ]);
  journal.append([{ kind: 'accepted', at: 5, id: kept.id }]);
  journal.close();
  expect([...(await readJournal(file)).values()]).toEqual([
    { event: kept, door: 'ingest', sentAt: 1, acceptedAt: 5 },
    { event: refused, door: 'topic', sentAt: 1 },
  ]);
});

it('does not take an acceptance of what was never sent', async () => {
  const file = join(folder, 'stranger');
  appendFileSync(file, `${JSON.stringify({ kind: 'accepted', at: 5, id: 'evt_1' })}\n`);
  await expect(readJournal(file)).rejects.toThrow('accepts evt_1');
});

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
  const file = join(folder, 'generated');
  const journal = openJournal(file);
  const stopping = new AbortController();
  const knownBefore: boolean[] = [];
  let answers = 0;
  const running = generate({
    random: createRandom(1),
    eventsPerSecond: 200,
    doors: {
      ingest: (events) => {
        const written = readFileSync(file, 'utf8');
        knownBefore.push(events.every(({ id }) => written.includes(id)));
        answers += 1;
        return Promise.resolve(events.map(({ id }) => id));
      },
      topic: () => Promise.resolve([]),
    },
    journal,
    stopping: stopping.signal,
  });
  await eventually(() => answers >= 2);
  stopping.abort();
  await running;
  journal.close();
  expect(knownBefore).not.toContain(false);
  const sent = [...(await readJournal(file)).values()];
  expect(new Set(sent.map(({ door }) => door))).toEqual(new Set(['ingest', 'topic']));
  for (const { door, acceptedAt } of sent) expect(acceptedAt !== undefined).toBe(door === 'ingest');
});

describe('ends with the first fault, and waits for what is under way', () => {
  const running = (over: Partial<Parameters<typeof generate>[0]>) =>
    generate({
      ...{ random: createRandom(1), eventsPerSecond: 200, stopping: new AbortController().signal },
      doors: {
        ingest: (events) => Promise.resolve(events.map(({ id }) => id)),
        topic: () => Promise.resolve([]),
      },
      journal: { append: () => undefined, close: () => undefined },
      ...over,
    });

  it('of the journal: an acknowledgement that cannot be written down', async () => {
    let faults = 0;
    const append = (lines: readonly JournalLine[]): void => {
      if (lines.every(({ kind }) => kind === 'sent')) return;
      faults += 1;
      throw new Error(`no space ${faults}`);
    };
    await expect(running({ journal: { append, close: () => undefined } })).rejects.toMatchObject({
      message: 'a door failed',
      cause: { message: 'no space 1' },
    });
  });

  it('of a door', async () => {
    const doors = {
      ingest: () => Promise.resolve([]),
      topic: () => Promise.reject(new Error('it says 500')),
    };
    await expect(running({ doors })).rejects.toMatchObject({ cause: { message: 'it says 500' } });
  });
});
