import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadFaults } from '../src/load-faults.js';
import type { Step } from '../src/plan/plan.js';
import { runChaos } from '../src/run-chaos.js';

const dataDir = mkdtempSync(join(tmpdir(), 'chaos-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** A second's worth. */
const SOME_EVENTS = 60;
/** Far above what a loaded machine takes. */
const STORM_DEADLINE_MS = 180_000;
/** Above all deadlines of a run, of which each says what it missed, and after which everything is stopped. */
const TEST_DEADLINE_MS = 600_000;

const patient = (step: Pick<Step, 'fault' | 'target'> & Partial<Step>): Step => ({
  lane: 'system',
  atMs: 0,
  lastsMs: 0,
  afterEvents: SOME_EVENTS,
  ...step,
});

/**
 * Something of each kind, one after the other: what `npm run chaos` draws by a seed. Each begins when what was broken before
 * is up again and has accepted events, not at a moment that a loaded machine would miss. No worker is killed here, because its
 * partitions are taken over 10 s later: `worker-kills.test.ts` of the demonstration has the time for it.
 */
const STEPS: readonly Step[] = [
  patient({ lane: 'receivers', fault: 'receiver-resets', target: 'moody-1', lastsMs: 2_000 }),
  patient({ fault: 'kill-at-point', target: 'before-accepting' }),
  patient({ fault: 'kill-at-point', target: 'between-database-and-topic' }),
  patient({ fault: 'kill', target: 'kafka' }),
  patient({ fault: 'cut-network', target: 'delivery-worker', lastsMs: 500 }),
  patient({ fault: 'terminate', target: 'delivery-worker-2' }),
];

it(
  'a short run of kills, a cut, a deployment and a bad receiver loses nothing, and the ledgers agree',
  async () => {
    const result = await runChaos({
      seed: 1,
      steps: STEPS,
      faults: await loadFaults(),
      durationMs: STORM_DEADLINE_MS,
      endsWithPlan: true,
      eventsPerSecond: SOME_EVENTS,
      dataDir,
      stopping: new AbortController().signal,
      print: () => undefined,
    });
    const { totals, findings } = result.verdict;
    process.stdout.write(`${JSON.stringify(totals)} recovered after ${result.recoveryMs} ms\n`);
    expect(findings).toEqual([]);
    expect(result.steps.map(({ outcome }) => outcome)).toEqual(STEPS.map(() => 'done'));
    expect(result.killed).toEqual(['ingest', 'config-api', 'kafka']);
    const inTheSystemLane = STEPS.length - 1;
    expect(totals.acceptedEvents).toBeGreaterThanOrEqual(SOME_EVENTS * inTheSystemLane);
    expect(totals).toMatchObject({ lost: 0 });
  },
  TEST_DEADLINE_MS,
);
