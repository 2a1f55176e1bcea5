import type { AttemptEntry, AttemptHistory, AttemptLogEntry, DeadEntry } from '@webhooks/contracts';
import type {
  DeadHistory,
  Delivery,
  DeliveryState,
  DeliveryStatus,
  LoggedAttempt,
} from './delivery-state.js';
import { by, greater, inTurn } from '../order.js';
import { omitUndefined } from '../omit-undefined.js';

/** Attempts that a delivery keeps: the first and the newest. 200 of 200 bytes are 40 KB. */
export const MAX_ATTEMPTS = 200;

/** Identifies an attempt. After a crash it may be repeated, with another time and another result. */
const byName = inTurn<LoggedAttempt>(
  by(({ cycle }) => cycle),
  by(({ attempt }) => attempt),
  by(({ source }) => source),
);

/** Which of two reports of one attempt holds: the delivered one, else the later, else one by a fixed order. */
const byReport = inTurn<LoggedAttempt>(
  by(({ result }) => Number(result === 'delivered')),
  by(({ at }) => at),
  by(({ durationMs }) => durationMs),
  by(({ status }) => status ?? 0),
  by(({ nextAt }) => nextAt ?? 0),
  by(({ error, code }) => `${error}/${code}`),
);

/** Keeps each attempt once, sorted. */
function unite(attempts: readonly LoggedAttempt[]): readonly LoggedAttempt[] {
  const united: LoggedAttempt[] = [];
  for (const attempt of [...attempts].sort(byName)) {
    const last = united.at(-1);
    if (!last || byName(last, attempt) !== 0) united.push(attempt);
    else united[united.length - 1] = greater(byReport, last, attempt);
  }
  return united;
}

/**
 * Merges the attempts of both. Which ones stay depends on their identity alone, so the order of merges does not
 * matter.
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

/** What a dead letter reports: the end, and the attempts before it. */
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

/** The delivery that this entry alone describes. */
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

/**
 * Which of two states holds: that of the latest cycle; then delivered, dead, cancelled; then the latest attempt and
 * time.
 */
const byFinality = inTurn<DeliveryState>(
  by(({ cycle }) => cycle),
  by(({ status }) => BY_RANK.indexOf(status)),
  by(({ attempt }) => attempt),
  by(({ at }) => at),
  // At one time an attempt holds over a deferral.
  by(({ deferred }) => (deferred ? 0 : 1)),
  by(({ nextAt }) => nextAt ?? -1),
  by(({ reason }) => reason ?? ''),
);

/** Which of two histories holds: that of the latest cycle, then the longer one. Each is the beginning of the next. */
const byCompleteness = inTurn<DeadHistory>(
  by(({ cycle }) => cycle),
  by(({ text }) => text.length),
  by(({ text }) => text),
);

function laterHistory(left?: DeadHistory, right?: DeadHistory): DeadHistory | undefined {
  if (!left || !right) return left ?? right;
  return greater(byCompleteness, left, right);
}

/** Merges two parts of one delivery. */
function join(left: Delivery, right: Delivery): Delivery {
  const history = laterHistory(left.history, right.history);
  return {
    // The delivery's id is made of tenant, ref and event id, so these are equal in both.
    ...left,
    eventType: left.eventType <= right.eventType ? left.eventType : right.eventType,
    createdAt: Math.min(left.createdAt, right.createdAt),
    updatedAt: Math.max(left.updatedAt, right.updatedAt),
    state: greater(byFinality, left.state, right.state),
    ...mergeAttempts(left, right),
    ...omitUndefined({ history }),
  };
}

/**
 * Merges entries into a delivery. The order, repetition and grouping of entries do not matter, because
 * `webhooks.attempts` has no order and a crash repeats. Throws when there is nothing to merge.
 */
export function mergeEntries(known: Delivery | undefined, entries: readonly DeliveryEntry[]): Delivery {
  const parts = entries.map(deliveryOf);
  const [first, ...more] = known ? [known, ...parts] : parts;
  if (!first) throw new Error('expected a delivery or an entry of one');
  return more.reduce(join, first);
}
