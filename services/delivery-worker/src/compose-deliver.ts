import { LONGEST_TIMEOUT_MS, traceIdOf } from '@webhooks/contracts';
import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import { createSender, watchClientCertificate, watchEgress } from '@webhooks/outbound';
import type { Sender } from '@webhooks/outbound';
import { addCounter, createLogThrottle, errorFields } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { Admission, drain } from './admission/admission.js';
import { TICK_MS } from './admission/queue.js';
import type { WorkerConfig } from './config.js';
import type { ConfigurationCache } from './configurations/configuration-cache.js';
import type { Observers } from './observe/attempt-line.js';
import { watchAdmission } from './observe/watch-admission.js';
import { deliver } from './path/deliver.js';
import type { DeliverPorts } from './path/deliver.js';
import type { AttemptLog } from './publish/attempt-log.js';
import type { PublishWithRetry } from './publish/publisher.js';

export interface DeliveryParts {
  readonly cache: ConfigurationCache;
  readonly publish: PublishWithRetry;
  readonly attemptLog: AttemptLog;
  readonly observers: Observers;
}

/** Default timeout of a whole attempt. A delivery policy can set another. See `packages/contracts/README.md`. */
const ATTEMPT_TIMEOUT_MS = 10_000;
/** Deliveries queued in memory. With 1,000, each delivery costs 25 % more CPU time, and the worker 90 MiB more. */
const QUEUE_LIMIT = 256;

function openSender(config: WorkerConfig, scope: ServiceScope): Sender {
  const { clientCertificate, egressProxy } = config.sending;
  const strikes = 'How often the handshakes of a tenant were moved to another thread for their CPU time';
  const isolated = addCounter(scope.registry, 'webhook_tenants_isolated_total', strikes);
  const sender = createSender({
    ...config.sending,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    onIsolated: (tenantId) => {
      isolated.inc();
      scope.log.warn("a tenant's handshakes take much CPU time: its new connections open on another thread", {
        tenantId,
      });
    },
  });
  scope.onClose('sender', () => sender.close());
  if (clientCertificate !== undefined) watchClientCertificate(clientCertificate, sender, scope);
  if (egressProxy !== undefined) watchEgress(egressProxy, scope);
  return sender;
}

function openAdmission(config: WorkerConfig, cache: ConfigurationCache, scope: ServiceScope): Admission {
  const admission = new Admission({
    ...config,
    queueLimit: Math.min(QUEUE_LIMIT, Math.ceil(config.maxInFlight / 2)),
    onBreaker: (turned, { tenant, ref, target, lastFailure }) => {
      const fields = { tenantId: tenant.tenantId, ref, origin: target.origin };
      if (turned === 'closed') scope.log.info('an endpoint responds again: its breaker is closed', fields);
      else scope.log.warn('an endpoint fails: its breaker is open', { ...fields, lastFailure });
    },
  });
  watchAdmission(admission, cache.table, scope);
  const timer = setInterval(() => admission.tick(), TICK_MS);
  scope.onClose('admission', () => {
    clearInterval(timer);
    return Promise.resolve();
  });
  return admission;
}

/** Wires one delivery, from its task to its settlement. */
export function composeDeliver(config: WorkerConfig, parts: DeliveryParts, scope: ServiceScope) {
  const sender = openSender(config, scope);
  const admission = openAdmission(config, parts.cache, scope);
  const { forwardTraceparent, schedule } = config;
  const { userAgent, vendorHeader } = config.sending;
  // While the egress proxy is down, thousands of attempts fail alike.
  const throttle = createLogThrottle();
  const ports: DeliverPorts = {
    ...{ ...parts, admission, sender, userAgent, vendorHeader, forwardTraceparent, schedule },
    startSpan: scope.tracing.startSpan,
    onFault: ({ ref, deliveryId, traceparent }, fault) =>
      throttle((attempts) => {
        const fields = { attempts, ref, deliveryId, traceId: traceIdOf(traceparent), ...errorFields(fault) };
        scope.log.error('an attempt could not be made', fields);
      }),
    observe: parts.observers.settled,
  };
  return {
    deliver: (task: DeliveryTask, source: RecordOrigin) => deliver(task, source, ports),
    waiting: admission.waiting,
    /** Resolves when slow attempts have ended. Must be awaited before the sources stop. */
    drain: () => drain(admission, () => sender.stats().oldestMs, LONGEST_TIMEOUT_MS),
  };
}

export type Delivering = ReturnType<typeof composeDeliver>;
