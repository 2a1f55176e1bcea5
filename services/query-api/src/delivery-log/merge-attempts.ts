import type { Delivery, LoggedAttempt } from './delivery.js';
import { byNumber, byText, greater, inTurn } from '../order.js';

/** Attempts that one delivery keeps: the first and the newest. 200 of 200 bytes are 40 KB. */
export const MAX_ATTEMPTS = 200;

/** An attempt has one name, however often it was made: a crash repeats it with another time and another result. */
const byName = inTurn<LoggedAttempt>(
  byText(({ cycle }) => cycle),
  byNumber(({ attempt }) => attempt),
  byText(({ source }) => source),
);

/** Of two tellings of one attempt: the one that says delivered, else the later, else any, but always the same. */
const byTelling = inTurn<LoggedAttempt>(
  byNumber(({ result }) => Number(result === 'delivered')),
  byNumber(({ at }) => at),
  byNumber(({ durationMs }) => durationMs),
  byNumber(({ status }) => status ?? 0),
  byNumber(({ nextAt }) => nextAt ?? 0),
  byText(({ error, code }) => `${error}/${code}`),
);

/** Each name once, in order. */
function unite(attempts: readonly LoggedAttempt[]): readonly LoggedAttempt[] {
  const united: LoggedAttempt[] = [];
  for (const attempt of [...attempts].sort(byName)) {
    const last = united.at(-1);
    if (!last || byName(last, attempt) !== 0) united.push(attempt);
    else united[united.length - 1] = greater(byTelling, last, attempt);
  }
  return united;
}

/**
 * The attempts of both. What is kept depends on the names alone: the first of all is the first of every part that has it,
 * and the newest likewise, so it does not matter in which order parts were cut.
 */
export function mergeAttempts(
  left: Delivery,
  right: Delivery,
): Pick<Delivery, 'attempts'> & { readonly truncated?: true } {
  const united = unite([...left.attempts, ...right.attempts]);
  if (united.length <= MAX_ATTEMPTS)
    return { attempts: united, ...(left.truncated || right.truncated ? { truncated: true } : {}) };
  return { attempts: [...united.slice(0, 1), ...united.slice(1 - MAX_ATTEMPTS)], truncated: true };
}
