import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPICS } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import { FAULTS } from '../../src/chaos/faults.js';
import type { Change } from '../../src/chaos/generator/changes.js';
import type { Step } from '../../src/chaos/plan.js';
import { findUntested, runChaos } from '../../src/chaos/run-chaos.js';
import { step } from './checker/evidence-builder.js';

describe('what a run did not test', () => {
  const event = buildEvent();
  const sent = (ingress: 'ingest' | 'topic', isAccepted = true) =>
    [`evt_${ingress}`, { event, ingress, sentAt: 1, ...(isAccepted ? { acceptedAt: 2 } : {}) }] as const;
  const change = (requested: Change['requested']): Change => ({
    ref: 'r',
    requested,
    requestedAt: 1,
    respondedAt: 2,
  });
  const changes = [
    ...[change({ what: 'disable' }), change({ what: 'enable' }), change({ what: 'rotate' })],
    change({ what: 'move', path: '/elsewhere' }),
  ];
  const all = { steps: [step(1, 2)], sent: new Map([sent('ingest'), sent('topic')]), changes };

  it.each([
    ['nothing is left out', {}, []],
    ['no fault', { steps: [step(1, 2, { outcome: 'passed-over' })] }, ['any fault']],
    [
      'an ingress that accepted nothing',
      { sent: new Map([sent('ingest', false), sent('topic')]) },
      ['the ingress ingest: it accepted nothing'],
    ],
    ['a change that was not made', { changes: changes.slice(1) }, ['a change of a configuration: disable']],
  ])('%s', (_, over, expected) => {
    expect(findUntested({ ...all, ...over })).toEqual(expected);
  });
});

describe('a short run', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'chaos-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  const stepAt = (seconds: number, fault: string, target: string, lastsMs = 0): Step => ({
    track: FAULTS.find(({ name }) => name === fault)?.track ?? 'system',
    ...{ atMs: 1_000 * seconds, fault, target, lastsMs },
  });
  /**
   * Something of each kind, which `npm run chaos` draws by a seed, each with a target of its own: a loaded machine may do a step
   * later, and misses none.
   */
  const STEPS: readonly Step[] = [
    stepAt(1, 'receiver-resets', 'flaky-1', 2_000),
    stepAt(2, 'kill', 'ingest'),
    stepAt(3, 'foreign-transaction', TOPICS.events, 2_000),
    stepAt(4, 'kill', 'config-api'),
    stepAt(6, 'cut-network', 'delivery-worker', 500),
    stepAt(8, 'terminate', 'delivery-worker-2'),
    stepAt(10, 'freeze', 'query-api', 1_000),
    stepAt(12, 'kill', 'kafka'),
    stepAt(15, 'kill', 'delivery-worker'),
    stepAt(18, 'kill', 'mongodb'),
    stepAt(21, 'kill-everything', 'everything'),
  ];

  it('of kills, the end of all processes, a cut, a deployment and a bad receiver loses nothing, and the delivery accounts agree', async () => {
    const { verdict, steps, killed } = await runChaos({
      ...{ seed: 1, steps: STEPS, durationMs: 26_000, eventsPerSecond: 100, dataDir },
      ...{ stopping: new AbortController().signal, print: () => undefined },
    });
    expect(verdict.findings).toEqual([]);
    expect(steps.map(({ outcome }) => outcome)).toEqual(STEPS.map(() => 'done'));
    const oneByOne = ['ingest', 'config-api', 'kafka', 'delivery-worker', 'mongodb'];
    expect(killed.slice(0, oneByOne.length)).toEqual(oneByOne);
    expect(killed.length).toBeGreaterThan(oneByOne.length);
    // Of 2,600; how many are accepted beside kills depends on the machine.
    expect(verdict.totals.acceptedEvents).toBeGreaterThan(500);
    expect(verdict.totals).toMatchObject({ lost: 0, waiting: 0 });
  }, 600_000);
});
