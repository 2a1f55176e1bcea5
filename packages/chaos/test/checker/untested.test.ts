import { findLeftOut, findUntested } from '../../src/checker/untested.js';
import type { Tried } from '../../src/checker/untested.js';
import { at } from './evidence-builder.js';

const accepted = { acceptedAt: at(1) };
const made = { ref: 'r', asked: { what: 'disable' as const }, askedAt: at(1), answeredAt: at(1.1) };
/** Everything once. */
const tried = (over: Partial<Tried> = {}): Tried => ({
  planned: [{ fault: 'kill' }, { fault: 'kill' }],
  steps: [
    { fault: 'kill', outcome: 'done' },
    { fault: 'kill', outcome: 'passed-over', why: 'it is being started' },
  ],
  sent: new Map([
    ['evt_1', { door: 'ingest', ...accepted }],
    ['evt_2', { door: 'topic', ...accepted }],
    ['evt_3', { door: 'topic' }],
  ]),
  changes: [made, { ...made, published: false }],
  ...over,
});

it('a run that did everything once has tested it', () => {
  expect(findUntested(tried())).toEqual([]);
});

it.each<[string, Partial<Tried>, string]>([
  ['a plan of which nothing was done', { steps: [] }, 'any fault (none was done)'],
  [
    'a plan of which all was passed over',
    { steps: [{ fault: 'kill', outcome: 'passed-over', why: 'it is being started' }] },
    'any fault (none was done)',
  ],
  [
    'a door that accepted nothing',
    {
      sent: new Map([
        ['evt_2', { door: 'topic', ...accepted }],
        ['evt_1', { door: 'ingest' }],
      ]),
    },
    'the door ingest (it accepted nothing)',
  ],
  [
    'changes that all failed',
    { changes: [{ ref: 'r', asked: { what: 'enable' }, askedAt: at(1) }] },
    'changes of configurations (none was made)',
  ],
])('%s was not tested', (_, over, expected) => {
  expect(findUntested(tried(over))).toEqual([expected]);
});

it('a fault that was never done is named with the reason, and is no fault of the run', () => {
  const planned = [{ fault: 'kill' }, { fault: 'freeze' }];
  expect(findUntested(tried({ planned }))).toEqual([]);
  expect(findLeftOut(tried({ planned }))).toEqual(['freeze (the time was over)']);
  const steps = [
    { fault: 'kill', outcome: 'done' },
    { fault: 'freeze', outcome: 'passed-over', why: 'it is being started' },
  ] as const;
  expect(findUntested(tried({ planned, steps }))).toEqual([]);
  expect(findLeftOut(tried({ planned, steps }))).toEqual(['freeze (it is being started)']);
});
