import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadFaults } from '../src/load-faults.js';
import type { Step } from '../src/plan/plan.js';
import { runChaos } from '../src/run-chaos.js';

const dataDir = mkdtempSync(join(tmpdir(), 'chaos-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const DURATION_MS = 8_000;
const SOME_EVENTS = 60;
const system = (fault: string, target: string, atMs: number, lastsMs = 0): Step => ({
  lane: 'system',
  fault,
  target,
  atMs,
  lastsMs,
});

/**
 * Something of each kind, one after the other: what `npm run chaos` draws by a seed. No worker is killed here, because its
 * partitions are taken over 10 s later: `worker-kills.test.ts` of the demonstration has the time for it.
 */
const STEPS: readonly Step[] = [
  { lane: 'receivers', fault: 'receiver-resets', target: 'moody-1', atMs: 1_000, lastsMs: 2_000 },
  system('kill', 'ingest', 1_500),
  system('kill', 'kafka', 3_000),
  system('cut-network', 'delivery-worker', 6_000, 500),
  system('terminate', 'delivery-worker-2', 7_000),
];

it('a short run of kills, a cut, a deployment and a bad receiver loses nothing, and the ledgers agree', async () => {
  const result = await runChaos({
    seed: 1,
    steps: STEPS,
    faults: await loadFaults(),
    durationMs: DURATION_MS,
    eventsPerSecond: 60,
    dataDir,
    stopping: new AbortController().signal,
    print: () => undefined,
  });
  const { totals, findings } = result.verdict;
  process.stdout.write(`${JSON.stringify(totals)} recovered after ${result.recoveryMs} ms\n`);
  expect(findings).toEqual([]);
  expect(result.steps.map(({ outcome }) => outcome)).toEqual(STEPS.map(() => 'done'));
  expect(result.killed).toEqual(['ingest', 'kafka']);
  // Those of before the broker's end at least: a busy machine takes all the other seconds to bring it back.
  expect(totals.acceptedEvents).toBeGreaterThan(SOME_EVENTS);
  expect(totals).toMatchObject({ lost: 0 });
}, 120_000);
