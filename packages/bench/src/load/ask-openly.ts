import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMicros } from '../measure/clock.js';
import { Histogram } from '../measure/histogram.js';
import { planSchedule } from './schedule.js';

export interface OpenAsking {
  readonly perSecond: number;
  readonly seconds: number;
  /** Questions under way at most: what is due beyond that is given up by the asker. */
  readonly maxUnderWay: number;
}

/** What became of the questions. */
export interface Answers {
  /** Times from due to answer, in microseconds, by the word of the answer. */
  readonly byWord: ReadonlyMap<string, Histogram>;
  /** Due while `maxUnderWay` were open: never asked. */
  readonly givenUp: number;
  /** From the first question to the last answer, in microseconds. */
  readonly micros: number;
}

/** Of questions that may begin, the pause between two looks. */
const LOOK_MS = 1;

/**
 * Open loop: asks at a fixed rate, whatever becomes of the earlier ones. `ask` resolves with one of few words for its
 * answer, such as the status, and never rejects.
 */
export async function askOpenly(ask: () => Promise<string>, plan: OpenAsking): Promise<Answers> {
  const startedAt = monotonicMicros();
  const schedule = planSchedule({ ...plan, count: Math.round(plan.perSecond * plan.seconds) }, startedAt);
  const byWord = new Map<string, Histogram>();
  const underWay = new Set<Promise<void>>();
  let givenUp = 0;

  const askAt = async (dueAt: number): Promise<void> => {
    const word = await ask();
    const times = byWord.get(word) ?? new Histogram();
    byWord.set(word, times);
    times.record(monotonicMicros() - dueAt);
  };
  const begin = (index: number): void => {
    if (underWay.size >= plan.maxUnderWay) {
      givenUp += 1;
      return;
    }
    const asking = askAt(schedule.dueAt(index)).finally(() => underWay.delete(asking));
    underWay.add(asking);
  };
  for (let next = 0; next < schedule.count;) {
    const to = schedule.dueBy(monotonicMicros());
    for (; next < to; next += 1) begin(next);
    await delay(LOOK_MS);
  }
  await Promise.all(underWay);
  return { byWord, givenUp, micros: monotonicMicros() - startedAt };
}

/** Answers with this word, of how many a second. */
export const rateOf = ({ byWord, micros }: Answers, word: string): number =>
  ((byWord.get(word)?.count ?? 0) * 1_000_000) / micros;

/** Questions that were asked. */
export const askedOf = ({ byWord }: Answers): number =>
  [...byWord.values()].reduce((sum, { count }) => sum + count, 0);
