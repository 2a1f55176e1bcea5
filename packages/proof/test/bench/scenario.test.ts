import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScenario } from '../../src/bench/scenario.js';
import type { ScenarioOutcome, Scenario } from '../../src/bench/scenario.js';
import { figure, showRuns, workerCpu } from '../../src/bench/report.js';
import { runLoad } from '../../src/bench/world/run.js';
import { registerFanOut } from '../../src/bench/world/world.js';
import type { World } from '../../src/bench/world/world.js';

const EVENTS = 300;
const SIZES = { count: EVENTS, seconds: 0 };

/** All arrivals get their response; one of them is not reported. */
function losingOne(world: World): World {
  let lost = 0;
  const take = () => world.receiver.take().filter(({ path }) => path !== '/short/0' || (lost += 1) !== 123);
  return { ...world, receiver: { ...world.receiver, take } };
}

/** A real stack, a generator and a receiver as processes, one endpoint, the same load twice. */
const scenario: Scenario = {
  title: 'a short one',
  usual: SIZES,
  whole: SIZES,
  measure: async (context) => {
    const world = await context.openWorld({ tenants: ['short'], ports: 1 });
    const endpoints = await registerFanOut(world, 'short', 1);
    const measureRun = (run: string, seen: World) =>
      context.run(run, async () => {
        const runs = [await runLoad(seen, endpoints, { count: context.sizes.count }, { stalledMs: 5_000 })];
        return showRuns(runs, [figure('CPU', workerCpu(runs), 'µs')]);
      });
    await measureRun('complete', world);
    await measureRun('one receipt is missing', losingOne(world));
  },
};

describe('a run of the bench', () => {
  let outcome: ScenarioOutcome;
  const printed: string[] = [];

  beforeAll(async () => {
    outcome = await runScenario({
      name: 'short',
      scenario,
      sizes: SIZES,
      dataDir: mkdtempSync(join(tmpdir(), 'bench-')),
      print: (line) => printed.push(line),
    });
  });

  it('shows its figures and what each process used when the delivery account balances', () => {
    expect(outcome.reports.map(({ run }) => run)).toEqual(['complete']);
    const [report] = outcome.reports;
    expect(report?.account).toBe(
      `accepted=${EVENTS} delivered=${EVENTS} waiting=0 duplicates=0 refused=0 lost=0`,
    );
    expect(report?.usage?.count).toBe(EVENTS);
    expect(report?.usage?.processes.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'delivery-worker',
        'kafka',
        'mongodb',
        'ingest',
        'config-api',
        'receiver',
        'generator',
      ]),
    );
  });

  it('is void and shows no figure when one receipt is missing', () => {
    const why = `1 of ${EVENTS} deliveries are missing`;
    expect(outcome.voids).toEqual([{ scenario: 'short', run: 'one receipt is missing', why }]);
    const shown = printed.slice(printed.indexOf('short: one receipt is missing'));
    expect(shown).toEqual(['short: one receipt is missing', `  void: ${why}`]);
  });
});
