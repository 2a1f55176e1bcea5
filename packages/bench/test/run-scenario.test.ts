import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScenario } from '../src/run-scenario.js';
import type { ScenarioOutcome } from '../src/run-scenario.js';
import { runReport, workerCpu } from '../src/scenarios/run-figures.js';
import type { Scenario } from '../src/scenarios/scenario.js';
import { flood } from '../src/world/flood.js';
import { registerEndpoints } from '../src/world/world.js';

const EVENTS = 300;
const RUNS = ['complete', 'one receipt is missing'];

/** A real stack, a generator and a receiver as processes, one endpoint, the same load twice. */
const scenario: Scenario = {
  title: 'a short one',
  usual: { count: EVENTS, seconds: 0 },
  whole: { count: EVENTS, seconds: 0 },
  measure: async (stage) => {
    const world = await stage.openWorld({ tenants: ['short'], ports: 1 });
    const endpoints = await registerEndpoints(world, [{ path: '/short', tenantId: 'short' }]);
    for (const run of RUNS)
      await stage.run(run, async () => {
        const result = await flood(world, endpoints, stage.sizes.count, { quietMs: 5_000 });
        stage.report(runReport(run, result, [{ name: 'CPU', value: workerCpu(result), unit: 'µs' }]));
      });
  },
};

describe('a run of the bench', () => {
  let outcome: ScenarioOutcome;
  const printed: string[] = [];

  beforeAll(async () => {
    outcome = await runScenario({
      name: 'short',
      scenario,
      sizes: {},
      whole: false,
      shared: {},
      dataDir: mkdtempSync(join(tmpdir(), 'bench-')),
      print: (line) => printed.push(line),
      // In the second run: the endpoint is answered as ever, only the line about it is not written.
      dropReceipt: EVENTS + 123,
    });
  });

  it('shows its figures and what each process used when the ledger balances', () => {
    expect(outcome.reports.map(({ run }) => run)).toEqual(['complete']);
    const [report] = outcome.reports;
    expect(report?.ledger).toBe(`accepted=${EVENTS} delivered=${EVENTS} duplicates=0 refused=0 lost=0`);
    expect(report?.usage?.deliveries).toBe(EVENTS);
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
