import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import { createSender } from '@webhooks/outbound';
import type { Sender } from '@webhooks/outbound';
import { errorFields } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { createAttemptLog } from './attempt-log.js';
import { attempt } from './attempt.js';
import type { WorkerConfig } from './config.js';
import { currentConfiguration } from './current-configuration.js';
import { decide, park, parkFor } from './decide.js';
import type { Settlement } from './decide.js';
import { deliver } from './deliver.js';
import type { DeliverPorts } from './deliver.js';
import { createGate } from './gate/gate.js';
import type { Gate } from './gate/gate-types.js';
import type { Observers } from './observe.js';
import type { Picture } from './picture.js';
import type { PublishSurely } from './publish-surely.js';
import { createSaturation } from './saturation.js';
import { letSlowEnd } from './let-slow-end.js';
import { settle } from './settle.js';
import { watchGate } from './watch-gate.js';

export interface Delivering {
  readonly deliver: (task: DeliveryTask, source: RecordOrigin) => Promise<Settlement['kind']>;
  readonly room: Gate['room'];
  /** To be awaited before the sources stop in order. */
  readonly slowEnded: () => Promise<void>;
}

export interface DeliveryParts {
  readonly picture: Picture;
  readonly publish: PublishSurely;
  readonly observers: Observers;
}

/** The whole attempt; `packages/contracts/README.md`. */
const ATTEMPT_TIMEOUT_MS = 10_000;
/** What the end of an attempt takes at most, to be told and settled. */
const END_MS = 250;
/** How long a queue that has to give way may still fill the room. */
const GATE_SWEEP_MS = 50;
/** Shorter looks call each collection a shortage. */
const SATURATION_LOOK_MS = 250;
/** First attempts queued in memory: at most twice of it while endpoints are slow, and half of it while we are. */
const MAX_QUEUE_LIMIT = 256;

function openSender(config: WorkerConfig, scope: ServiceScope): Sender {
  const sender = createSender({
    addresses: config.addresses,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    ...(config.endpointCaFile === undefined ? {} : { extraCaFile: config.endpointCaFile }),
    // As many as there are attempts: what waits in the pool waits for a used connection, or for its turn to connect.
    connectionsPerOrigin: config.maxAttempts,
  });
  scope.onClose('sender', () => sender.close());
  return sender;
}

function openGate(config: WorkerConfig, picture: Picture, scope: ServiceScope): Gate {
  const gate = createGate({
    ...config,
    queueLimit: Math.min(MAX_QUEUE_LIMIT, Math.ceil(config.maxInFlight / 4)),
    breaker: config.breaker,
    isEnabled: (tenantId, ref) => picture.find(tenantId, ref)?.enabled !== false,
    onBreaker: (turned, { tenant, ref, origin, lastFailure }) => {
      const fields = { tenantId: tenant.tenantId, ref, origin };
      if (turned === 'closed') scope.log.info('an endpoint answers again: its breaker is closed', fields);
      else scope.log.warn('an endpoint fails: its breaker is open', { ...fields, lastFailure });
    },
  });
  watchGate(gate, scope);
  const isSaturated = createSaturation();
  const timers = [
    setInterval(() => gate.sweep(), GATE_SWEEP_MS),
    setInterval(() => gate.note(isSaturated()), SATURATION_LOOK_MS),
  ];
  scope.onClose('gate', () => {
    for (const timer of timers) clearInterval(timer);
    return Promise.resolve();
  });
  return gate;
}

/** The rules of the schedule, with the clock and the dice. */
function scheduling({ schedule }: WorkerConfig, { log }: ServiceScope) {
  const decisionOf = (task: DeliveryTask) => ({
    firstDueAt: task.firstDueAt,
    attempt: task.attempt,
    now: Date.now(),
    schedule,
    random: Math.random(),
  });
  return {
    decide: (outcome, task) => decide(outcome, decisionOf(task)),
    isLast: ({ firstDueAt }) => Date.now() >= firstDueAt + schedule.maxAgeMs,
    parkFor: (later, task) => parkFor(later, decisionOf(task)),
    parkAfterFault: (task, fault) => {
      const { ref, deliveryId } = task;
      log.error('an attempt could not be made', { ref, deliveryId, ...errorFields(fault) });
      return park(task.parkedCount, decisionOf(task));
    },
  } satisfies Partial<DeliverPorts>;
}

/** The way of one delivery, from its task to its settlement. */
export function composeDeliver(config: WorkerConfig, parts: DeliveryParts, scope: ServiceScope): Delivering {
  const { picture, publish, observers } = parts;
  const sender = openSender(config, scope);
  const attemptOptions = { sender, userAgent: config.userAgent, vendorHeader: config.vendorHeader };
  const settlePorts = { publish, attemptLog: createAttemptLog(publish) };
  const gate = openGate(config, picture, scope);
  const ports: DeliverPorts = {
    gate,
    current: (task) => currentConfiguration(task, picture),
    attempt: (task, configuration) => attempt(task, configuration, attemptOptions),
    ...scheduling(config, scope),
    settle: (settled) => settle(settled, settlePorts),
    observe: observers.settled,
  };
  return {
    deliver: (task, source) => deliver(task, source, ports),
    room: gate.room,
    slowEnded: () =>
      letSlowEnd({
        gate,
        oldestAttemptMs: () => sender.stats().oldestMs,
        deadlineMs: ATTEMPT_TIMEOUT_MS + END_MS,
      }),
  };
}
