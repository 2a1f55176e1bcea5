import { arrived, deliveryId, entry, evidence, kinds, place, task } from './evidence-builder.js';

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
  const arrivals = [arrived(0.1), arrived(5.1)];
  const topics = { tasks: [again()], entries: told, handledUpTo };
  const of = (over: Partial<typeof job> | { state: 'running' }) =>
    kinds(evidence({ arrivals, redeliveries: [{ ...job, ...over }], topics }));
  expect(of({})).toEqual([]);
  expect(of({ state: 'running' })).toEqual(['not-redelivered']);
  expect(of({ matched: 2 })).toEqual(['not-redelivered']);
});

it('not redelivered: a job found nothing, or refused what there was no reason to refuse', () => {
  const of = (over: Partial<typeof job>) => kinds(evidence({ redeliveries: [{ ...job, ...over }] }));
  expect(of({ matched: 0 })).toEqual(['not-redelivered']);
  expect(of({ refused: 1 })).toEqual(['not-redelivered']);
  expect(of({ expired: 1 })).toEqual(['not-redelivered']);
});

it('not redelivered: the cycle ended in a retry of which nothing came, or was cancelled', () => {
  const log = new Map([[deliveryId, 'pending' as const]]);
  const failed = entry(5.1, { cycle, result: 'failed', status: 503 });
  const arrivals = [arrived(0.1), arrived(5.1, { status: 503 })];
  const retry = again({ attempt: 2, place: place('webhooks.retries.1s', 3, 5) });
  const retried = new Map([...handledUpTo, ['webhooks.retries.1s/0', 100]]);
  const topics = { tasks: [again(), retry], entries: [entry(0.1), failed], handledUpTo: retried };
  expect(kinds(evidence({ arrivals, redeliveries: [job], log, topics }))).toEqual(['not-redelivered']);
  const cancelled = entry(5.1, { cycle, kind: 'cancelled', reason: 'disabled' } as object);
  const ended = { tasks: [again()], entries: [entry(0.1), cancelled], handledUpTo };
  const cancelledLog = new Map([[deliveryId, 'cancelled' as const]]);
  expect(kinds(evidence({ redeliveries: [job], log: cancelledLog, topics: ended }))).toEqual([
    'not-redelivered',
  ]);
});

it('not redelivered: the worker claims a second 2xx that no receiver gave', () => {
  const topics = { tasks: [again()], entries: told, handledUpTo };
  expect(kinds(evidence({ redeliveries: [job], topics }))).toEqual(['not-redelivered']);
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
  expect(kinds(evidence({ arrivals, redeliveries: [job], topics }))).toEqual([
    'wrong-log',
    'not-redelivered',
  ]);
});
