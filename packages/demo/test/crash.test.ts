import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@webhooks/stack';
import type { Stack } from '@webhooks/stack';
import { eventually } from '@webhooks/testkit';
import type { FeedLine } from '@webhooks/ledger';
import { account, feed, generateSample, readFeedLine, setStage } from '@webhooks/ledger';

const EVENTS = 20_000;
/** Killed one after the other, each while events go through; the last turn kills all of them at once. */
const VICTIMS = [
  ['delivery-worker'],
  ['ingest'],
  ['config-api'],
  ['kafka'],
  ['mongodb'],
  ['delivery-worker', 'ingest', 'config-api', 'kafka', 'mongodb'],
];

const dataDir = mkdtempSync(join(tmpdir(), 'crash-'));
const said: string[] = [];
let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ dataDir, fixedPorts: false, log: (line) => said.push(line) });
}, 120_000);
afterAll(async () => {
  await stack.stop();
  rmSync(dataDir, { recursive: true, force: true });
}, 120_000);

function killNow(names: readonly string[]): Readonly<Record<string, number>> {
  const { processes } = stack.description();
  for (const name of names) process.kill(processes[name] ?? Number.NaN, 'SIGKILL');
  return processes;
}

/** Each victim has a new process id again. */
const untilBack = (names: readonly string[], before: Readonly<Record<string, number>>): Promise<void> =>
  eventually(
    () => {
      const { processes } = stack.description();
      const missing = names.filter(
        (name) => processes[name] === undefined || processes[name] === before[name],
      );
      if (missing.length > 0) throw new Error(`${missing.join(', ')} is not back`);
    },
    { timeoutMs: 60_000, message: 'waiting for what was killed' },
  );

/** Feeds a share of the events, kills in the middle of it, and goes on once everything runs again. */
async function feedAndKill(
  lines: readonly FeedLine[],
  victims: readonly string[],
  report: Parameters<typeof feed>[2],
): Promise<void> {
  const half = Math.floor(lines.length / 2);
  await feed(stack.description(), lines.slice(0, half), report);
  const second = feed(stack.description(), lines.slice(half), report);
  const before = killNow(victims);
  await Promise.all([second, untilBack(victims, before)]);
}

it('kill -9 of each service, of the broker and of the database loses nothing that was acknowledged', async () => {
  const lines = generateSample(EVENTS, 11).map((event) => readFeedLine(JSON.stringify(event)));
  const options = { stack: stack.description(), print: (line: string) => said.push(line) };
  const stage = await setStage(stack, lines, dataDir, 0);
  const share = Math.ceil(EVENTS / VICTIMS.length);
  const result = await account(stage, options, async (report) => {
    for (const [turn, victims] of VICTIMS.entries()) {
      await feedAndKill(lines.slice(turn * share, (turn + 1) * share), victims, report);
    }
  });
  await stage.receiver.close();
  process.stdout.write(`${result.closing.join('\n')}\n`);
  expect(result.ledger.totals()).toMatchObject({ lost: 0 });
  expect(result.ledger.totals().accepted).toBeGreaterThan(EVENTS);
  expect(said.filter((line) => line.includes('it is started again')).length).toBeGreaterThanOrEqual(10);
}, 300_000);
