import { setTimeout as delay } from 'node:timers/promises';

/** Asks `question` again every `everyMs` until it answers true; answers false when `deadlineMs` has passed. */
export async function pollUntil(
  question: () => boolean | Promise<boolean>,
  { deadlineMs, everyMs = 25 }: { deadlineMs: number; everyMs?: number },
): Promise<boolean> {
  const endsAt = performance.now() + deadlineMs;
  while (!(await question())) {
    if (performance.now() > endsAt) return false;
    await delay(everyMs);
  }
  return true;
}
