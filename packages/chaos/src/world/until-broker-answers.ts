import { setTimeout as delay } from 'node:timers/promises';
import { isBrokerAway } from './unavailable.js';

const DEADLINE_MS = 30_000;
const LOOK_MS = 500;

/** Asks a broker that may have just come up until it answers; rejects with its last word after 30 s, and at once with any other fault. */
export async function untilBrokerAnswers<T>(ask: () => Promise<T>, deadlineMs = DEADLINE_MS): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (!isBrokerAway(error) || performance.now() > deadline) throw error;
      await delay(LOOK_MS);
    }
}
