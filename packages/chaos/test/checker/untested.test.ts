import { findLeftOut, findUntested } from '../../src/checker/untested.js';
import type { Change } from '../../src/generator/changes.js';
import type { Tried } from '../../src/checker/untested.js';
import { CONFIGURATION, REF, at, event, step } from './evidence-builder.js';

const accepted = { event, sentAt: at(8), acceptedAt: at(8.1) };
const change = (what: 'disable' | 'enable', seconds: number) => ({
  ...{ ref: REF, asked: { what }, askedAt: at(seconds), answeredAt: at(seconds + 0.1) },
});
const TOGGLES = [change('disable', 1), change('enable', 5), change('disable', 20)];
const made = (asked: Change['asked']): Change => ({ ref: 'r', asked, askedAt: at(2), answeredAt: at(2.1) });
const PASSED_OVER = step(4, 4, { outcome: 'passed-over', why: 'it is being started' });
const DONE = step(30, 31);
/** Everything once. */
const tried = (over: Partial<Tried> = {}): Tried => ({
  planned: [{ fault: 'kill' }, { fault: 'kill' }],
  steps: [DONE, PASSED_OVER],
  configurations: [{ ...CONFIGURATION, treatment: 'toggled' }],
  sent: new Map([
    ['evt_1', { ...accepted, door: 'ingest' }],
    ['evt_2', { ...accepted, door: 'topic' }],
    ['evt_3', { event, sentAt: at(8), door: 'topic' }],
  ]),
  changes: [...TOGGLES, made({ what: 'move', path: '/elsewhere' }), made({ what: 'rotate' })],
  redeliveries: [{}],
  ...over,
});
const TOGGLED = 'toggled configurations (nothing was surely owed to one)';

it('a run that did everything once has tested it', () => {
  expect(findUntested(tried())).toEqual([]);
  expect(findLeftOut(tried())).toEqual([]);
});

it.each<[string, Partial<Tried>, string]>([
  ['a plan of which nothing was done', { steps: [] }, 'any fault (none was done)'],
  ['a plan of which all was passed over', { steps: [PASSED_OVER] }, 'any fault (none was done)'],
  [
    'a door that accepted nothing',
    {
      sent: new Map([
        ['evt_2', { ...accepted, door: 'topic' }],
        ['evt_1', { event, sentAt: at(8), door: 'ingest' }],
      ]),
    },
    'the door ingest (it accepted nothing)',
  ],
  [
    'changes that all failed',
    { changes: [{ ref: REF, asked: { what: 'enable' }, askedAt: at(9) }] },
    'changes of configurations (none was made)',
  ],
  [
    'a configuration that is disabled soon after each event',
    { changes: [change('disable', 1), change('enable', 5), change('disable', 10)] },
    TOGGLED,
  ],
  ['a configuration that is disabled all the time', { changes: [change('disable', 1)] }, TOGGLED],
  ['a configuration while the workers were held up', { steps: [step(9, 16)] }, TOGGLED],
  ['a run without a configuration that is toggled', { configurations: [CONFIGURATION] }, TOGGLED],
])('%s was not tested', (_, over, expected) => {
  expect(findUntested(tried(over))).toEqual([expected]);
});

it('a fault that was never done is named with the reason, and is no fault of the run', () => {
  const planned = [{ fault: 'kill' }, { fault: 'freeze' }];
  expect(findUntested(tried({ planned }))).toEqual([]);
  expect(findLeftOut(tried({ planned }))).toEqual(['freeze (the time was over)']);
  const steps = [DONE, { ...PASSED_OVER, fault: 'freeze' }];
  expect(findUntested(tried({ planned, steps }))).toEqual([]);
  expect(findLeftOut(tried({ planned, steps }))).toEqual(['freeze (it is being started)']);
});

it('a check that had nothing to look at is named, and is no fault of the run', () => {
  const idle = tried({ redeliveries: [], changes: TOGGLES });
  expect(findUntested(idle)).toEqual([]);
  expect(findLeftOut(idle)).toEqual([
    'redeliveries (none was begun)',
    'moves (none was made)',
    'new secrets (none was made)',
  ]);
});
