import type { AttemptEntry, AttemptHistory, AttemptLogEntry, DeadEntry } from '@webhooks/contracts';
import type { DeadHistory, Delivery, DeliveryState, DeliveryStatus, LoggedAttempt } from './delivery.js';
import { byNumber, byText, compareText, greater, inTurn } from '../order.js';
import { omitUndefined } from '../omit-undefined.js';

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
function mergeAttempts(
  left: Delivery,
  right: Delivery,
): Pick<Delivery, 'attempts'> & { readonly truncated?: true } {
  const united = unite([...left.attempts, ...right.attempts]);
  if (united.length <= MAX_ATTEMPTS)
    return { attempts: united, ...(left.truncated || right.truncated ? { truncated: true } : {}) };
  return { attempts: [...united.slice(0, 1), ...united.slice(1 - MAX_ATTEMPTS)], truncated: true };
}

/** What a dead letter tells: the end, and the attempts before it. */
interface DeadLetterEntry extends DeadEntry {
  readonly history?: AttemptHistory | undefined;
}
export type DeliveryEntry = Exclude<AttemptLogEntry, DeadEntry> | DeadLetterEntry;

function stateOf(entry: DeliveryEntry): DeliveryState {
  const { cycle, attempt, at } = entry;
  switch (entry.kind) {
    case 'attempt': {
      if (entry.result === 'delivered') return { cycle, status: 'delivered', attempt, at };
      return { cycle, status: 'pending', attempt, at, ...omitUndefined({ nextAt: entry.nextAt }) };
    }
    case 'deferred':
      return { cycle, status: 'pending', attempt, at, nextAt: entry.nextAt, deferred: true };
    case 'cancelled':
    case 'dead':
      return { cycle, status: entry.kind, attempt, at, reason: entry.reason };
  }
}

function attemptOf(entry: AttemptEntry): LoggedAttempt {
  const { cycle, attempt, at, durationMs, result, status, error, code, nextAt, source } = entry;
  return {
    cycle,
    attempt,
    at,
    durationMs: Math.round(durationMs),
    result,
    ...omitUndefined({ status, error, code, nextAt }),
    source: `${source.topic}/${source.partition}/${source.offset}`,
  };
}

/** A delivery of which nothing but this entry is known. */
function deliveryOf(entry: DeliveryEntry): Delivery {
  const { deliveryId, tenantId, ref, eventId, eventType, cycle, at } = entry;
  return {
    deliveryId,
    tenantId,
    ref,
    eventId,
    eventType,
    createdAt: at,
    updatedAt: at,
    state: stateOf(entry),
    attempts: entry.kind === 'attempt' ? [attemptOf(entry)] : [],
    ...(entry.kind === 'dead' && entry.history !== undefined
      ? { history: { cycle, text: entry.history } }
      : {}),
  };
}

const BY_RANK: readonly DeliveryStatus[] = ['pending', 'cancelled', 'dead', 'delivered'];

/** The latest cycle decides; in it delivered, dead and cancelled in this order, then the latest attempt and moment. */
const byFinality = inTurn<DeliveryState>(
  byText(({ cycle }) => cycle),
  byNumber(({ status }) => BY_RANK.indexOf(status)),
  byNumber(({ attempt }) => attempt),
  byNumber(({ at }) => at),
  // Of one moment: what was attempted is known better than what was put aside.
  byNumber(({ deferred }) => (deferred ? 0 : 1)),
  byNumber(({ nextAt }) => nextAt ?? -1),
  byText(({ reason }) => reason ?? ''),
);

/** The history of the latest cycle, the longer one: each is the beginning of the next. */
const byCompleteness = inTurn<DeadHistory>(
  byText(({ cycle }) => cycle),
  byNumber(({ text }) => text.length),
  byText(({ text }) => text),
);

function laterHistory(left?: DeadHistory, right?: DeadHistory): DeadHistory | undefined {
  if (!left || !right) return left ?? right;
  return greater(byCompleteness, left, right);
}

/** What two parts of a delivery's history come to together. */
function join(left: Delivery, right: Delivery): Delivery {
  const history = laterHistory(left.history, right.history);
  return {
    // The delivery's id is made of tenant, ref and event id, so both have the same.
    ...left,
    eventType: compareText(left.eventType, right.eventType) <= 0 ? left.eventType : right.eventType,
    createdAt: Math.min(left.createdAt, right.createdAt),
    updatedAt: Math.max(left.updatedAt, right.updatedAt),
    state: greater(byFinality, left.state, right.state),
    ...mergeAttempts(left, right),
    ...omitUndefined({ history }),
  };
}

/**
 * What is known of a delivery once these entries are known too. Pure, and blind to order, repetition and how the entries
 * were split: readers of `webhooks.attempts` assume no order, and a crash repeats. Throws when nothing at all is given.
 */
export function mergeEntries(known: Delivery | undefined, entries: readonly DeliveryEntry[]): Delivery {
  const parts = entries.map(deliveryOf);
  const [first, ...more] = known ? [known, ...parts] : parts;
  if (!first) throw new Error('expected a delivery or an entry of one');
  return more.reduce(join, first);
}
