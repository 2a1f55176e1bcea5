import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startMongo } from '@webhooks/local';
import type { MongoEngine } from '@webhooks/local';
import { eventually, stopProcess } from '@webhooks/testkit';
import type { Answer, Caller } from '../support/caller.js';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

/** A freeze has been seen to find no write under way; that so many in a row find none is a fault. */
const MAX_FREEZES = 5;

let folder: string;
let port: number;
let mongo: MongoEngine | undefined;
let api: RunningConfigApi;
let acme: Caller;
/** It begins without its database, which is killed once; each freeze is one more. */
let outages = 2;

const HOOK = { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/pix' };
const WRITERS_REF = '0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e50';
const hook = (name: string) => ({ ...HOOK, endpointUrl: `https://hook.acme.com.br/${name}` });
const uri = (): string =>
  `mongodb://127.0.0.1:${port}/outage?directConnection=true&retryWrites=false&serverMonitoringMode=poll`;

beforeAll(async () => {
  await makeTopics();
  folder = await mkdtemp(join(tmpdir(), 'config-api-mongo-'));
  port = await freePort();
  api = await startConfigApi({ MONGODB_URI: uri() });
  acme = await api.tenant();
});
afterAll(async () => {
  await api.stop();
  await mongo?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The audit lines of changes whose fate nobody knows. */
const unknownChanges = () =>
  api.lines
    .filter(({ message, fields }) => message === 'audit' && fields['outcome'] === 'unknown')
    .map(({ fields }) => fields);

const audited = (action: string): number =>
  api.lines.filter(({ message, fields }) => message === 'audit' && fields['action'] === action).length;

/** Every operation, all at once: each must be told within 5 s that the database is not available. No write is begun. */
async function expectUnavailable(): Promise<void> {
  const ref = '0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f';
  const timed = async (work: Promise<Answer>): Promise<void> => {
    const begun = performance.now();
    const { status, body, headers } = await work;
    expect(status).toBe(500);
    expect(body['code']).toBe('database-unavailable');
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect(performance.now() - begun).toBeLessThan(5_000);
  };
  await Promise.all([
    timed(acme.post(hook('never'))),
    timed(acme.post(hook('never'))),
    timed(acme.put({ ...HOOK, enabled: false })),
    timed(acme.list()),
    timed(acme.get(ref)),
    timed(acme.rotate(ref)),
    timed(acme.remove(ref)),
  ]);
  expect(unknownChanges().filter((fields) => fields['tenantId'] === acme.tenantId)).toEqual([]);
}

/** Twenty tenants that update a webhook of theirs again and again, until the database is not available. */
async function openWriters(): Promise<{ readonly ended: Promise<unknown> }> {
  const change = { ...HOOK, ref: WRITERS_REF, applicationId: 'app' };
  const before = audited('update');
  const writers = await Promise.all(Array.from({ length: 20 }, () => api.tenant()));
  await Promise.all(writers.map((writer) => writer.post(change)));
  const write = async (writer: Caller): Promise<void> => {
    let answer = await writer.put(change);
    while (answer.status === 200) answer = await writer.put(change);
    expect(answer.body['code']).toBe('database-unavailable');
  };
  const ended = Promise.all(writers.map(write));
  // Two changes of each on average: they are in different phases by now.
  await eventually(() => audited('update') - before >= 2 * writers.length);
  return { ended };
}

const untilServed = (): Promise<unknown> =>
  eventually(
    async () => {
      const answer = await acme.list();
      expect(answer.status).toBe(200);
      expect(api.ready()).toEqual({ ok: true, faults: {} });
    },
    { timeoutMs: 30_000, intervalMs: 200, message: 'the service has recovered' },
  );

const urls = async (): Promise<unknown[]> => {
  const { body } = await acme.list();
  return Array.isArray(body['data'])
    ? body['data'].map((element: { endpointUrl: unknown }) => element.endpointUrl)
    : [];
};

// One story: each outage ends before the next one begins.
it('the service starts without its database, says so, and serves as soon as there is one', async () => {
  expect(api.ready()).toMatchObject({ ok: false, faults: { database: expect.any(String) as unknown } });
  await expectUnavailable();
  mongo = await startMongo({ dataDir: folder, port });
  await untilServed();
  expect((await acme.post(HOOK)).status).toBe(200);
});

it('it is not ready while the database is away, responds with 500 within 5 s, and recovers by itself', async () => {
  mongo?.kill();
  await expectUnavailable();
  await eventually(() => !api.ready().ok);
  await mongo?.restart();
  await untilServed();
  expect(await urls()).toEqual([HOOK.endpointUrl]);
  expect((await acme.post(hook('after'))).status).toBe(200);
});

/** Freezes the database, and lets it go on when all is as it should be. True when a change was under way: nobody knows its fate. */
async function freezeOnce(pid: number): Promise<boolean> {
  const begun = await openWriters();
  await stopProcess(pid);
  await Promise.all([expectUnavailable(), begun.ended]);
  const [unknown] = unknownChanges();
  await eventually(() => !api.ready().ok);
  process.kill(pid, 'SIGCONT');
  await untilServed();
  if (unknown === undefined) return false;
  expect(unknown).toMatchObject({
    action: 'update',
    ref: WRITERS_REF,
    eventType: 'PIX_OUT',
    applicationId: 'app',
  });
  return true;
}

it('it does the same while the database is silent', async () => {
  const pid = mongo?.pid;
  if (pid === undefined) throw new Error('the test before this one did not start the database');
  // Twenty writers are in all phases of a change, but a freeze may find all of them before their writes.
  let freezes = 1;
  while (!(await freezeOnce(pid)) && freezes < MAX_FREEZES) freezes += 1;
  expect(unknownChanges().length).toBeGreaterThan(0);
  outages += freezes;
  // What was on its way when the caller was told 500 may have been done: then it was done whole, and once.
  const { status, body } = await acme.post(hook('never'));
  expect(status).toBe(200);
  expect(body['enabled']).toBe(true);
  expect((await urls()).filter((url) => url === hook('never').endpointUrl)).toHaveLength(1);
});

it('it logs the beginning and the end of an outage, not each failure', () => {
  const lines = api.lines.filter(({ message }) => message.startsWith('the database'));
  const words = lines.map(({ message }) => message);
  const downs = words.filter((message) => message === 'the database is unreachable').length;
  const backs = words.filter((message) => message === 'the database is reachable again').length;
  expect(downs).toBe(backs);
  // Tens of failed looks each; a slow machine may see a silent one end more than once.
  expect(downs).toBeGreaterThanOrEqual(outages);
  expect(downs).toBeLessThanOrEqual(3 * outages);
});
