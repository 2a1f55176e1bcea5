import { createRequire } from 'node:module';
import { Kafka, logLevel } from 'kafkajs';

const require = createRequire(import.meta.url);

interface RequestQueue {
  throttledUntil: number;
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

/**
 * A kafkajs client for questions to a broker that may not be there yet: few retries, no log, and without the timer
 * with a negative delay that kafkajs 2.2.4 arms on an idle connection (Node 24 prints a warning for each first one).
 */
export function quietKafka(brokers: readonly string[], retries = 0): Kafka {
  silenceIdleTimer();
  return new Kafka({
    clientId: 'engines',
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3_000,
    requestTimeout: 5_000,
    retry: { retries, initialRetryTime: 50, maxRetryTime: 250 },
  });
}

let silenced = false;

function silenceIdleTimer(): void {
  if (silenced) return;
  silenced = true;
  const { prototype } = requestQueueClass(require('kafkajs/src/network/requestQueue'));
  const original: unknown = Object.getOwnPropertyDescriptor(prototype, 'scheduleCheckPendingRequests')?.value;
  if (typeof original !== 'function') return;
  prototype.scheduleCheckPendingRequests = function quiet(this: RequestQueue) {
    if (this.pending.length > 0 || this.throttledUntil > Date.now()) original.call(this);
  };
}

function requestQueueClass(value: unknown): { prototype: RequestQueue } {
  if (typeof value !== 'function') throw new Error('kafkajs: expected the class RequestQueue');
  return value;
}
