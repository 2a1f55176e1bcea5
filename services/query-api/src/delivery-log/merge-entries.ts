import { parseAttemptHistory } from '@webhooks/contracts';
import type { AttemptEntry, AttemptHistory, AttemptLogEntry, DeadEntry } from '@webhooks/contracts';
import type { Delivery, DeliveryState, DeliveryStatus, LoggedAttempt } from './delivery-state.js';
import { orderBy, greater, chainOrders } from '../order.js';
import { omitUndefined } from '../omit-undefined.js';
import type { Position } from '../statements/daily-totals.js';

/** Attempts that a document stores: the first and the newest. 200 attempts of 200 bytes are 40 KB. */
export const MAX_ATTEMPTS = 200;

/** Equal for two entries of one attempt. After a crash the second one may have another time and result. */
const byIdentity = chainOrders<LoggedAttempt>(
  orderBy(({ cycle }) => cycle),
  orderBy(({ attempt }) => attempt),
  orderBy(({ source }) => source),
);

/** Whether this attempt is the one before it in the order. A dead letter reports no source; its attempts sort first. */
const isSame = (before: LoggedAttempt, attempt: LoggedAttempt): boolean =>
  byIdentity({ ...before, source: before.source || attempt.source }, attempt) === 0;

/**
 * Which of two reports of one attempt wins: an entry over a dead letter's report, the delivered one, else the later,
 * else one by a fixed order.
 */
const byReport = chainOrders<LoggedAttempt>(
  orderBy(({ source }) => source),
  orderBy(({ result }) => Number(result === 'delivered')),
  orderBy(({ at }) => at),
  orderBy((report) => JSON.stringify(report)),
);

/** Returns each attempt once, sorted by identity. */
export function deduplicate(attempts: readonly LoggedAttempt[]): readonly LoggedAttempt[] {
  const distinct: LoggedAttempt[] = [];
  for (const attempt of [...attempts].sort(byIdentity)) {
    const last = distinct.at(-1);
    if (!last || !isSame(last, attempt)) distinct.push(attempt);
    else distinct[distinct.length - 1] = greater(byReport, last, attempt);
  }
  return distinct;
}

/**
 * Merges the attempts of two parts. Only the identity of an attempt decides whether it is stored, so the result is the
 * same for any order of merges.
 */
function mergeAttempts(
  left: Delivery,
  right: Delivery,
): Pick<Delivery, 'attempts'> & { readonly truncated?: true } {
  const distinct = deduplicate([...left.attempts, ...right.attempts]);
  if (distinct.length <= MAX_ATTEMPTS)
    return { attempts: distinct, ...(left.truncated || right.truncated ? { truncated: true } : {}) };
  return { attempts: [...distinct.slice(0, 1), ...distinct.slice(1 - MAX_ATTEMPTS)], truncated: true };
}

/** The entry of a dead letter: the end of a delivery, and the attempts before it. */
interface DeadLetterEntry extends DeadEntry {
  readonly history?: AttemptHistory | undefined;
}
export type DeliveryEntry = (Exclude<AttemptLogEntry, DeadEntry> | DeadLetterEntry) & {
  /** The record that reports it. Merging ignores it. */
  readonly position?: Position;
};

/** Returns the state that an entry reports. */
export function stateOf(entry: DeliveryEntry): DeliveryState {
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

/** Returns the attempts that a dead letter of this cycle reports. */
export const fromHistory = (cycle = '', history?: AttemptHistory): readonly LoggedAttempt[] =>
  parseAttemptHistory(history).map(({ result, ...entry }) => ({
    cycle,
    ...entry,
    result: 'failed',
    ...(typeof result === 'number' ? { status: result } : { error: result }),
    source: '',
  }));

function attemptsOf(entry: DeliveryEntry): readonly LoggedAttempt[] {
  if (entry.kind === 'attempt') return [attemptOf(entry)];
  return entry.kind === 'dead' ? fromHistory(entry.cycle, entry.history) : [];
}

/** Returns the delivery as this one entry describes it. */
function deliveryOf(entry: DeliveryEntry): Delivery {
  const { deliveryId, tenantId, ref, eventId, eventType, acceptedAt, cents, at } = entry;
  const attempts = deduplicate(attemptsOf(entry));
  return {
    deliveryId,
    tenantId,
    ref,
    eventId,
    eventType,
    ...omitUndefined({ acceptedAt, cents }),
    createdAt: Math.min(at, ...attempts.map((attempt) => attempt.at)),
    updatedAt: at,
    state: stateOf(entry),
    attempts,
  };
}

const BY_RANK: readonly DeliveryStatus[] = ['pending', 'cancelled', 'dead', 'delivered'];

/**
 * Which of two states wins: the one of the latest cycle; then delivered over dead over cancelled over pending; then the
 * one of the latest attempt; then the latest; then one by a fixed order.
 */
const byFinality = chainOrders<DeliveryState>(
  orderBy(({ cycle }) => cycle),
  orderBy(({ status }) => BY_RANK.indexOf(status)),
  orderBy(({ attempt }) => attempt),
  orderBy(({ at }) => at),
  // With equal times an attempt wins over a deferral.
  orderBy(({ deferred }) => (deferred ? 0 : 1)),
  orderBy((state) => JSON.stringify(state)),
);

/** Merges two parts of one delivery. */
function join(left: Delivery, right: Delivery): Delivery {
  return {
    // The delivery id is derived from tenant, ref and event id, so these fields are equal in both. The totals may have
    // counted the left time and amount, and an event that is repeated the next day must not change them.
    ...right,
    ...left,
    eventType: left.eventType <= right.eventType ? left.eventType : right.eventType,
    createdAt: Math.min(left.createdAt, right.createdAt),
    updatedAt: Math.max(left.updatedAt, right.updatedAt),
    state: greater(byFinality, left.state, right.state),
    ...mergeAttempts(left, right),
  };
}

/**
 * Merges entries into a delivery. The result is the same for any order, repetition and grouping of the entries:
 * `webhooks.attempts` has no order, and a crash repeats entries. Only `acceptedAt` and `cents` are those of the delivery,
 * else of the first entry that reports them. Throws when there is neither a delivery nor an entry.
 */
export function mergeEntries(stored: Delivery | undefined, entries: readonly DeliveryEntry[]): Delivery {
  const parts = entries.map(deliveryOf);
  const [first, ...more] = stored ? [stored, ...parts] : parts;
  if (!first) throw new Error('expected a delivery or an entry of one');
  return more.reduce(join, first);
}
