import { check } from '../../src/checker/check.js';
import type { DoneStep } from '../../src/run-plan.js';
import { arrived, at, entry, event, evidence, kinds, place, step, task } from './evidence-builder.js';

describe('the schedule', () => {
  const second = (seconds: number, tasks = [task(0.1)]) =>
    evidence({
      arrivals: [arrived(0.1, { status: 503 }), arrived(seconds, { attempt: 2 })],
      topics: { tasks, entries: [entry(0.1, { result: 'failed' }), entry(seconds, { attempt: 2 })] },
    });

  it('lets an attempt begin when it is due', () => {
    expect(kinds(second(1.1))).toEqual([]);
  });
  it('too early: an attempt began before', () => {
    expect(kinds(second(1))).toEqual(['too-early']);
  });
  it('lets it begin up to ten minutes early when a worker’s clock was wrong, and no earlier', () => {
    const with_ = (fault: string, target: string, dueAt: number) =>
      kinds({ ...second(1, [task(0.1, { dueAt })]), steps: [step(0, 2, { fault, target })] });
    expect(with_('clock-ahead', 'delivery-worker-2', at(600))).toEqual([]);
    expect(with_('clock-ahead', 'ingest', at(600))).toEqual(['too-early']);
    expect(with_('kill', 'delivery-worker', at(600))).toEqual(['too-early']);
    expect(with_('clock-ahead', 'delivery-worker', at(602))).toEqual(['too-early']);
  });
  it('from nowhere: no retry told of it', () => {
    expect(kinds(second(1.1, []))).toEqual(['from-nowhere']);
  });
  it('wrong delay: the retry was planned sooner than the schedule less its jitter', () => {
    expect(kinds(second(1.1, [task(0.1, { dueAt: at(0.95) })]))).toEqual([]);
    expect(kinds(second(1.1, [task(0.1, { dueAt: at(0.85) })]))).toEqual(['wrong-delay']);
  });
  it('too many attempts: one more than there are', () => {
    expect(kinds(evidence({ arrivals: [arrived(0.1), arrived(9, { attempt: 4, status: 500 })] }))).toEqual([
      'too-many-attempts',
    ]);
  });
});

describe('repeats', () => {
  const twice = (second: number, steps: readonly DoneStep[] = [], copies = 1) =>
    evidence({
      arrivals: [arrived(0.1), arrived(second)],
      steps,
      topics: {
        copies: new Map([[event.id, Array.from({ length: copies }, () => place('payments.events', 5))]]),
      },
    });

  it('are counted, with their bound, when something was broken around the first 2xx', () => {
    expect(check(twice(14, [step(5, 13)]))).toMatchObject({ totals: { repeats: 1, bound: 2 }, findings: [] });
  });
  it('unexplained: nothing was broken for 12 s around it', () => {
    expect(kinds(twice(40))).toEqual(['unexplained-repeat']);
    expect(kinds(twice(40, [step(20, 21)]))).toEqual(['unexplained-repeat']);
    expect(kinds(twice(40, [step(5, 6, { lane: 'receivers', target: 'moody-1' })]))).toEqual([
      'unexplained-repeat',
    ]);
  });
  it('are explained by a worker that died at a point', () => {
    expect(kinds(twice(14, [step(5, 13, { fault: 'kill-at-point', target: 'before-sending' })]))).toEqual([]);
  });
  it.each(['config-api', 'ingest', 'query-api', 'mongodb', 'before-accepting', 'after-projecting'])(
    'unexplained: only %s was broken around it, which no delivery depends on',
    (target) => {
      expect(kinds(twice(14, [step(5, 13, { target })]))).toEqual(['unexplained-repeat']);
    },
  );
  it('unexplained: a reset that could not be made', () => {
    const about = { fault: 'reset-offsets', target: 'delivery-worker.events' };
    const passedOver = step(30, 31, { ...about, outcome: 'passed-over', why: 'it has members' });
    expect(kinds(twice(50, [passedOver]))).toEqual(['unexplained-repeat']);
  });
  it('unexplained: a kill that found nothing to hit, right beside it', () => {
    const passedOver = step(5, 6, { outcome: 'passed-over', why: 'it is being started' });
    expect(kinds(twice(40, [passedOver]))).toEqual(['unexplained-repeat']);
    const visit = { fault: 'rebalance', target: 'delivery-worker.events' };
    expect(kinds(twice(40, [{ ...passedOver, ...visit }]))).toEqual([]);
  });
  it('are explained by a reset of webhooks.deliveries only with a task there', () => {
    const reset = step(30, 35, { fault: 'reset-offsets', target: 'delivery-worker.deliveries' });
    const seen = twice(40, [reset]);
    expect(kinds(seen)).toEqual(['unexplained-repeat']);
    const tasks = [task(0.1, { attempt: 1, place: place('webhooks.deliveries', 0) })];
    expect(kinds({ ...seen, topics: { ...seen.topics, tasks } })).toEqual([]);
  });
  it('are explained by another copy of the event, and by a reset however late', () => {
    expect(kinds(twice(40, [], 2))).toEqual([]);
    const reset = { fault: 'reset-offsets', target: 'delivery-worker.events' };
    expect(kinds(twice(40, [step(30, 35, reset)]))).toEqual([]);
  });
});
