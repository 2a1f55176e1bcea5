import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { TOPICS, encodeEvent } from '@webhooks/contracts';
import { Closers } from '@webhooks/runtime';
import { buildEvent, eventually, TokenDesk, randomName } from '@webhooks/testkit';
import { environment, openPublisher } from '../support/start-query-api.js';
import type { RunningQueryApi } from '../support/start-query-api.js';

/** The long run has 200,000. */
const EVENTS = Number(process.env['PULLED_EVENTS'] ?? 5_000);
/** Events of one append. */
const CHUNK = 500;
/** One in so many is appended twice, to two partitions. */
const REPEATED = 20;
/** The embedded database reads all that is behind a cursor for each page. */
const LIMIT = EVENTS > 50_000 ? '997' : '97';
const PARTITIONS = 12;
const LONG_MS = Math.max(180_000, EVENTS * 10);

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
const closers = new Closers();
const database = randomName('query_pull_crash');
const tenantId = randomName('tenant');
const silent = () => undefined;
let desk: TokenDesk;
let publish: RunningQueryApi['publish'];
/** Log lines of all instances above the level info. */
const warnings: string[] = [];

interface Instance {
  readonly url: string;
  readonly process: ChildProcess;
}

beforeAll(async () => {
  desk = await TokenDesk.open();
  closers.add('token desk', () => desk.close());
  publish = await openPublisher(closers);
});
afterAll(() => closers.closeAll({ debug: silent, info: silent, warn: silent, error: silent }, 20_000));

/** An instance of the service as a process; all have one database, and so one group. */
async function start(): Promise<Instance> {
  const env = { PATH: process.env['PATH'], ...environment(desk, database) };
  const child = spawn(process.execPath, [MAIN], {
    env: { ...env, ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  closers.add('instance', async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const listening = Promise.withResolvers<number>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { level, message, port } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (message === 'listening') listening.resolve(Number(port));
    if (level !== 'info') warnings.push(line);
  });
  return { url: `http://127.0.0.1:${await listening.promise}`, process: child };
}

/** Half of them lie in the first partition: that one is projected long after the others. */
const partitionOf = (at: number): number => (at % 2 === 0 ? 0 : at % PARTITIONS);
/** `r` for one that is appended twice, else its partition and its place among those. */
const idOf = (at: number): string => (at % REPEATED === 0 ? `r_${at}` : `p_${partitionOf(at)}_${at}`);

async function append(from: number): Promise<void> {
  const records = Array.from({ length: CHUNK }, (_, at) => from + at).flatMap((at) => {
    const value = encodeEvent(buildEvent({ tenantId, id: idOf(at) }));
    const record = { topic: TOPICS.events, partition: partitionOf(at), value };
    const foreign = { ...record, value: encodeEvent(buildEvent({ tenantId: `${tenantId}-other` })) };
    return at % REPEATED === 0 ? [record, foreign, { ...record, partition: PARTITIONS - 1 }] : [record];
  });
  await publish(...records);
}

it(
  'three instances, two of them killed while partitions are unequally far: a chain of pages shows each event once, in the order of its partition',
  async () => {
    const instances = [await start(), await start(), await start()];
    const token = await desk.tokenOf(tenantId, 'event.read');
    const shown: string[] = [];
    let cursor: string | undefined;
    let appended = 0;
    const appendSome = async (): Promise<void> => {
      if (appended < EVENTS) await append(appended);
      appended += CHUNK;
    };
    for (let chunks = EVENTS / CHUNK / 2; chunks > 0; chunks -= 1) await appendSome();

    /** From one instance after the other; what a killed one did not answer is asked again. */
    const readPage = async (turn: number): Promise<boolean> => {
      const { url } = instances[turn % instances.length] ?? { url: '' };
      const query = new URLSearchParams({ limit: LIMIT, wait: '1', ...(cursor && { after: cursor }) });
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}/integration/v1/notifications?${query.toString()}`, {
        headers,
      }).catch(() => undefined);
      if (answer?.status !== 200) {
        lastRefusal = answer && `${answer.status} ${await answer.text()}`;
        return true;
      }
      const page = (await answer.json()) as {
        readonly data: readonly { readonly id: string }[];
        readonly nextCursor: string;
        readonly hasMore: boolean;
      };
      shown.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
      return page.hasMore;
    };

    let lastRefusal: string | undefined;
    let turn = 0;
    let kills = 0;
    await eventually(
      async () => {
        await readPage(turn);
        turn += 1;
        if (turn % 3 === 0) await appendSome();
        if (kills < 2 && shown.length > (EVENTS * (kills + 1)) / 4) {
          kills += 1;
          instances.shift()?.process.kill('SIGKILL');
          instances.push(await start());
        }
        if (shown.length >= EVENTS) return;
        const exitCodes = instances.map(({ process }) => process.exitCode);
        const state = JSON.stringify({ shown: shown.length, lastRefusal, exitCodes });
        throw new Error([state, ...warnings.slice(-20)].join('\n'));
      },
      { timeoutMs: LONG_MS, intervalMs: 1 },
    );
    // Whatever came twice would come behind.
    while (await readPage((turn += 1)));
    expect(kills).toBe(2);
    expect(shown.toSorted()).toEqual(Array.from({ length: EVENTS }, (_, at) => idOf(at)).sort());
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const places = shown
        .filter((id) => id.startsWith(`p_${partition}_`))
        .map((id) => Number(id.split('_')[2]));
      expect([partition, places]).toEqual([partition, places.toSorted((one, other) => one - other)]);
    }
  },
  LONG_MS + 60_000,
);
