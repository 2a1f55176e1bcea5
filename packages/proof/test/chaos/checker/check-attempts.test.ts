import { check } from '../../../src/chaos/checker/check.js';
import type { DoneStep } from '../../../src/chaos/plan.js';
import { arrived, at, entry, event, evidence, kinds, place, step, task } from './evidence-builder.js';

describe('the schedule', () => {
  const second = (seconds: number, tasks = [task(0.1)]) =>
    evidence({
      arrivals: [arrived(0.1, { status: 503 }), arrived(seconds, { attempt: 2 })],
      topics: { tasks, entries: [entry(0.1, { result: 'failed' }), entry(seconds, { attempt: 2 })] },
    });

  it('allows an attempt to begin when it is due', () => {
    expect(kinds(second(1.1))).toEqual([]);
  });
  it('too early: an attempt began before it was due', () => {
    expect(kinds(second(1))).toEqual(['too-early']);
  });
  it('unscheduled attempt: no retry scheduled it', () => {
    expect(kinds(second(1.1, []))).toEqual(['unscheduled-attempt']);
  });
  it('wrong delay: the retry was planned sooner than the schedule less its jitter', () => {
    expect(kinds(second(1.1, [task(0.1, { dueAt: at(0.95) })]))).toEqual([]);
    expect(kinds(second(1.1, [task(0.1, { dueAt: at(0.85) })]))).toEqual(['wrong-delay']);
  });
  it('too many attempts: one more than the schedule has', () => {
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

  it('are counted when something was broken around the first 2xx', () => {
    expect(check(twice(14, [step(5, 13)]))).toMatchObject({ totals: { repeats: 1 }, findings: [] });
  });
  it('unexplained: nothing was broken for 12 s around it', () => {
    expect(kinds(twice(40))).toEqual(['unexplained-repeat']);
    expect(kinds(twice(40, [step(20, 21)]))).toEqual(['unexplained-repeat']);
    expect(kinds(twice(40, [step(5, 6, { track: 'receivers', target: 'flaky-1' })]))).toEqual([
      'unexplained-repeat',
    ]);
  });
  it.each(['config-api', 'ingest', 'query-api', 'mongodb'])(
    'unexplained: only %s was broken around it, which no delivery depends on',
    (target) => {
      expect(kinds(twice(14, [step(5, 13, { target })]))).toEqual(['unexplained-repeat']);
    },
  );
  it('unexplained: the only fault near it was passed over', () => {
    const passedOver = step(5, 6, { outcome: 'passed-over', why: 'it is being started' });
    expect(kinds(twice(40, [passedOver]))).toEqual(['unexplained-repeat']);
  });
  it('are explained by another copy of the event', () => {
    expect(kinds(twice(40, [], 2))).toEqual([]);
  });
});
