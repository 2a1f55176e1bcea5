import { arrived, entry, evidence, kinds, place, task } from './evidence-builder.js';

const cycle = 'r01';
const job = { cycle, state: 'completed' as const, matched: 1, refused: 0, expired: 0 };
const again = (over: Parameters<typeof task>[1] = {}) =>
  task(5, { cycle, attempt: 1, history: [], place: place('webhooks.deliveries', 0, 5), ...over });
const handledUpTo = new Map([
  ['payments.events/0', 100],
  ['webhooks.deliveries/0', 1],
]);
const told = [entry(0.1), entry(5.1, { cycle })];

it('a delivery that was sent again comes again, and that is no repeat without a reason', () => {
  const arrivals = [arrived(0.1), arrived(5.1)];
  const topics = { tasks: [again()], entries: told, handledUpTo };
  expect(kinds(evidence({ arrivals, redeliveries: [job], topics }))).toEqual([]);
  expect(kinds(evidence({ arrivals }))).toEqual(['unexplained-repeat']);
});

it('not redelivered: a job is not completed, or less stands on the topic than it was to send', () => {
  expect(kinds(evidence({ redeliveries: [{ ...job, matched: 0, state: 'running' }] }))).toEqual([
    'not-redelivered',
  ]);
  expect(kinds(evidence({ redeliveries: [job] }))).toEqual(['not-redelivered']);
  expect(kinds(evidence({ redeliveries: [{ ...job, refused: 1 }] }))).toEqual([]);
});

it('not redelivered: a task was handled, and nobody told of an attempt in its cycle', () => {
  const topics = { tasks: [again()], handledUpTo };
  expect(kinds(evidence({ redeliveries: [job], topics }))).toEqual(['not-redelivered']);
  const waiting = { tasks: [again({ place: place('webhooks.deliveries', 1, 5) })], handledUpTo };
  expect(kinds(evidence({ redeliveries: [job], topics: waiting }))).toEqual([]);
});

it('the log tells of the latest cycle', () => {
  const arrivals = [arrived(0.1), arrived(5.1)];
  const entries = [entry(0.1), entry(5.1, { cycle, kind: 'attempt', result: 'failed', error: 'RESET' })];
  const topics = { tasks: [again()], entries, handledUpTo };
  expect(kinds(evidence({ arrivals, redeliveries: [job], topics }))).toEqual(['wrong-log']);
});
