import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@webhooks/testkit';
import { importOption } from '../../src/points/preload-settings.js';
import { CLOCKS_VARIABLE, JUMP_MS, mendClock, setClock, wrongBy } from '../../src/whims/clock.js';
import { NAME_SERVER_VARIABLE, RECEIVER_NAME, openNames } from '../../src/whims/names.js';
import type { Names } from '../../src/whims/names.js';

/** Asks for names in the way of the workers, and says what its clock tells. */
const PROGRAM = `
import { Resolver } from 'node:dns/promises';
const names = new Resolver({ timeout: 100, tries: 1 });
const told = async (name) => {
  try { return (await names.resolve4(name)).join(); } catch (error) { return error.code; }
};
process.on('message', async (name) => {
  const date = new Date();
  process.send({
    address: await told(name),
    now: Date.now(),
    made: date.getTime(),
    said: Date.parse(Date()),
    isDate: date instanceof Date && new Date(5).getTime() === 5,
  });
});
`;

interface Told {
  readonly address: string;
  readonly now: number;
  readonly made: number;
  readonly said: number;
  readonly isDate: boolean;
}

const dir = mkdtempSync(join(tmpdir(), 'whims-'));
let names: Names;
let child: ChildProcess;
beforeAll(async () => {
  names = await openNames();
  const program = join(dir, 'program.mjs');
  writeFileSync(program, PROGRAM);
  child = fork(program, {
    execArgv: [],
    env: {
      ...process.env,
      NODE_OPTIONS: importOption('whims', 'preload.js'),
      [CLOCKS_VARIABLE]: dir,
      [NAME_SERVER_VARIABLE]: names.address,
    },
  });
});
afterAll(async () => {
  child.kill('SIGKILL');
  await names.close();
  rmSync(dir, { recursive: true, force: true });
});

async function ask(name = RECEIVER_NAME): Promise<Told> {
  child.send(name);
  const [told] = (await once(child, 'message', { signal: AbortSignal.timeout(5_000) })) as [Told];
  return told;
}

it('the clock of one process jumps, however it is read, and back', async () => {
  const clocks = async (): Promise<readonly number[]> => {
    const { now, made, said, isDate } = await ask();
    expect(isDate).toBe(true);
    const truly = Date.now();
    return [now, made, said].map((told) => wrongBy(told, truly));
  };
  const pid = child.pid ?? 0;
  expect(await clocks()).toEqual([0, 0, 0]);
  for (const jumpMs of [JUMP_MS, -JUMP_MS]) {
    setClock(dir, pid, jumpMs);
    await eventually(async () => expect(await clocks()).toEqual([jumpMs, jumpMs, jumpMs]));
  }
  mendClock(dir, pid);
  await eventually(async () => expect(await clocks()).toEqual([0, 0, 0]));
});

it('a process is told of a name what the run wants, and of no other name anything', async () => {
  const told = async (): Promise<string> => (await ask()).address;
  expect(await told()).toBe('127.0.0.1');
  names.become({ rcode: 'nxdomain' });
  expect(await told()).toBe('ENOTFOUND');
  names.become({ rcode: 'servfail' });
  expect(await told()).toBe('ESERVFAIL');
  names.become({ rcode: 'ok' });
  expect(await told()).toBe('ENODATA');
  names.become('silence');
  expect(await told()).toBe('ETIMEOUT');
  names.become({ rcode: 'ok', addresses: ['10.11.12.13'] });
  expect(await told()).toBe('10.11.12.13');
  names.behave();
  expect(await told()).toBe('127.0.0.1');
  expect((await ask('other.example.com')).address).toBe('ENOTFOUND');
});
