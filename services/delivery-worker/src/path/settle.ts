import { TOPICS, appendAttempt, centsOf, isReturned, taskHeaders, tierFor } from '@webhooks/contracts';
import type { AttemptLogEntry, DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import { resultFields } from './attempt.js';
import type { AttemptOutcome } from './attempt.js';
import type { Settlement } from './decide.js';
import type { AttemptLog } from '../publish/attempt-log.js';
import type { PublishWithRetry } from '../publish/publisher.js';

/** A task with its outcome and settlement. */
export interface Settled {
  readonly task: DeliveryTask;
  /** The record that carried the task. */
  readonly source: RecordOrigin;
  /** Undefined when no attempt was made. */
  readonly outcome: AttemptOutcome | undefined;
  /** Start of the attempt, or time of the decision without one; Unix milliseconds. */
  readonly at: number;
  readonly settlement: Settlement;
  /** The trace context of the attempt; undefined unless its span is sampled. */
  readonly traceparent?: string;
}

export interface SettlePorts {
  readonly publish: PublishWithRetry;
  readonly attemptLog: AttemptLog;
}

/** Returns the task with this attempt's failure: its error class or status, and its history. */
function withFailure({ task, outcome, at }: Settled): DeliveryTask {
  if (!outcome) return task;
  const { status, error = 'STATUS', code } = resultFields(outcome);
  const made = { attempt: task.attempt, at, durationMs: outcome.durationMs, result: status ?? error };
  const history = appendAttempt(task.history, { ...made, ...(code === undefined ? {} : { code }) });
  return { ...task, errorCode: error, httpStatus: status, history };
}

/** The task of the next attempt. */
const nextTask = (settled: Settled, dueAt: number): DeliveryTask => ({
  ...withFailure(settled),
  attempt: settled.task.attempt + 1,
  dueAt,
  firstAttemptAt: settled.task.firstAttemptAt ?? settled.at,
  previousTraceparent: settled.traceparent,
});

/** The same attempt, deferred. */
const deferredTask = (task: DeliveryTask, dueAt: number): DeliveryTask => ({
  ...task,
  dueAt,
  deferralCount: task.deferralCount + 1,
});

/** Writes a task to the retry tier that fits its wait. */
function publishWaiting(publish: PublishWithRetry, task: DeliveryTask, waitMs: number): Promise<void> {
  return publish({
    topic: tierFor(waitMs).topic,
    key: task.deliveryId,
    value: task.body,
    headers: taskHeaders(task),
  });
}

function publishDead(publish: PublishWithRetry, settled: Settled, reason: string): Promise<void> {
  const { deliveryId, body } = settled.task;
  const headers = taskHeaders(withFailure(settled));
  return publish({
    topic: TOPICS.deadLetters,
    key: deliveryId,
    value: body,
    headers: { ...headers, 'dead-reason': reason, 'dead-at': String(settled.at) },
  });
}

/** The fields that all entries share. */
function baseEntry({ task, source, at }: Settled) {
  const { deliveryId, cycle, eventId, eventType, tenantId, ref, revision, attempt, acceptedAt, body } = task;
  const cents = centsOf(body);
  return {
    ...{ deliveryId, cycle, eventId, eventType, tenantId, ref, revision, attempt, at, source },
    ...(acceptedAt === undefined ? {} : { acceptedAt }),
    ...(cents === undefined ? {} : { cents }),
  };
}

const attemptEntry = (settled: Settled, outcome: AttemptOutcome): AttemptLogEntry => ({
  kind: 'attempt',
  ...baseEntry(settled),
  result: outcome.kind === 'accepted' ? 'delivered' : 'failed',
  durationMs: outcome.durationMs,
  ...resultFields(outcome),
  ...(settled.settlement.kind === 'retry' ? { nextAt: settled.settlement.dueAt } : {}),
  ...(settled.traceparent === undefined ? {} : { traceparent: settled.traceparent }),
});

function endEntry(settled: Settled): AttemptLogEntry | undefined {
  const { settlement } = settled;
  if (settlement.kind === 'deferred') {
    // The first settlement is always logged. Otherwise the log would have no delivery, or still say `dead`, and a job would send
    // the event a second time.
    if (!settlement.isLogged && isReturned(settled.task)) return undefined;
    const { dueAt: nextAt, reason } = settlement;
    return { kind: 'deferred', ...baseEntry(settled), nextAt, ...(reason === 'fault' ? { reason } : {}) };
  }
  if ('reason' in settlement)
    return { kind: settlement.kind, ...baseEntry(settled), reason: settlement.reason };
  return undefined;
}

async function publishSettlement(settled: Settled, publish: PublishWithRetry): Promise<void> {
  const { task, settlement } = settled;
  switch (settlement.kind) {
    case 'retry':
      return publishWaiting(publish, nextTask(settled, settlement.dueAt), settlement.dueAt - Date.now());
    case 'deferred':
      return publishWaiting(publish, deferredTask(task, settlement.dueAt), settlement.dueAt - Date.now());
    case 'dead':
      return publishDead(publish, settled, settlement.reason);
    case 'delivered':
    case 'cancelled':
      return undefined;
  }
}

async function settleOther(settled: Settled, { publish, attemptLog }: SettlePorts): Promise<void> {
  const { outcome, settlement } = settled;
  const published = publishSettlement(settled, publish);
  // A deferral has no attempt to lose, so its log entry is written at the same time. That halves the time for which
  // the record fills the window.
  if (settlement.kind !== 'deferred') await published;
  const end = endEntry(settled);
  await Promise.all([
    published,
    outcome && attemptLog.append(attemptEntry(settled, outcome)),
    end && attemptLog.append(end),
  ]);
}

/**
 * Makes a decision durable. First the retry or the dead letter is acknowledged, then the attempt is logged. So a
 * crash in between can repeat an attempt, but loses none. Resolves when everything is acknowledged.
 */
export function settle(settled: Settled, ports: SettlePorts): Promise<void> {
  const { outcome, settlement } = settled;
  // Most deliveries end with their first attempt. Those of one pack share one promise.
  return outcome && settlement.kind === 'delivered'
    ? ports.attemptLog.append(attemptEntry(settled, outcome))
    : settleOther(settled, ports);
}
