import { monotonicMicros } from '../measure/clock.js';
import { Histogram } from '../measure/histogram.js';
import { VoidRun } from '../measure/void-run.js';

/** Closed loop: questions one after the other, or several side by side. */
export interface Turns {
  /** Numbers of the questions: from this one, before that one. */
  readonly from: number;
  readonly to: number;
  /** Questions under way at any time. */
  readonly underWay: number;
}

/** Times each question until its answer was read. Throws `VoidRun` for an answer that is wrong; what `ask` throws it throws. */
export async function askInTurn(
  name: string,
  ask: (turn: number) => Promise<boolean>,
  { from, to, underWay }: Turns,
): Promise<Histogram> {
  const histogram = new Histogram();
  let next = from;
  const askOn = async (): Promise<void> => {
    while (next < to) {
      const turn = next;
      next += 1;
      const startedAt = monotonicMicros();
      const isRight = await ask(turn);
      histogram.record(monotonicMicros() - startedAt);
      if (!isRight) throw new VoidRun(`${name}: the answer to question ${turn} is wrong`);
    }
  };
  await Promise.all(Array.from({ length: underWay }, askOn));
  return histogram;
}
