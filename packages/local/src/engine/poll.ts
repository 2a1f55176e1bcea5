import { setTimeout as delay } from 'node:timers/promises';

/** How long, and how often, somebody looks. */
export interface PollOptions {
  readonly deadlineMs: number;
  readonly everyMs?: number;
  /** True when waiting makes no sense any more, e.g. because the process has ended. */
  readonly isAbandoned?: () => boolean;
}

/** Looks until no obstacle is left, `isAbandoned`, or the deadline has passed; gives the obstacle that is left then. */
export async function untilClear(
  obstacleOf: () => Promise<string | undefined>,
  { deadlineMs, everyMs = 25, isAbandoned = () => false }: PollOptions,
): Promise<string | undefined> {
  const endsAt = performance.now() + deadlineMs;
  for (;;) {
    const obstacle = await obstacleOf();
    if (obstacle === undefined || isAbandoned() || performance.now() > endsAt) return obstacle;
    await delay(everyMs);
  }
}
