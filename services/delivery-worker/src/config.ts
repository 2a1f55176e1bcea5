import { parseDelays, parseKeyring, parseLongDuration } from '@webhooks/contracts';
import { readKafkaSettings } from '@webhooks/kafka';
import { readSenderSettings } from '@webhooks/outbound';
import type { SettingsReader } from '@webhooks/runtime';
import type { BreakerRules } from './admission/breaker.js';
import { DEFAULT_RETRY_DELAYS } from './path/decide.js';
import type { RetrySchedule } from './path/decide.js';

const MIB = 1_048_576;

/**
 * `parsed` returns undefined for an invalid setting, which is reported with all others at start. So the fallbacks
 * here are never used.
 */
const readSchedule = (settings: SettingsReader): RetrySchedule => ({
  delaysMs: settings.parsed('RETRY_DELAYS', DEFAULT_RETRY_DELAYS, parseDelays) ?? [],
  jitter: settings.integer('RETRY_JITTER_PERCENT', 20, { max: 50 }) / 100,
  maxAgeMs: settings.parsed('DELIVERY_MAX_AGE', '8d', parseLongDuration) ?? 0,
  retryAfterMaxMs: settings.parsed('RETRY_AFTER_MAX', '1h', parseLongDuration) ?? 0,
});

function readBreaker(settings: SettingsReader): BreakerRules {
  const firstPauseMs = settings.parsed('BREAKER_FIRST_PAUSE', '30s', parseLongDuration) ?? 0;
  const maxPauseMs = settings.parsed('BREAKER_MAX_PAUSE', '10m', parseLongDuration) ?? 0;
  settings.refuseWhen(
    maxPauseMs < firstPauseMs,
    'BREAKER_MAX_PAUSE must not be shorter than BREAKER_FIRST_PAUSE',
  );
  const failures = settings.integer('BREAKER_FAILURES', 10, { min: 1, max: 1_000_000 });
  return { failures, firstPauseMs, maxPauseMs };
}

export function readWorkerConfig(settings: SettingsReader) {
  return {
    sending: readSenderSettings(settings),
    kafka: readKafkaSettings(settings, 'delivery-worker'),
    groupPrefix: settings.text('GROUP_PREFIX', 'delivery-worker'),
    keyring: settings.parsed('SECRETS_KEYS', undefined, parseKeyring) ?? { keys: [] },
    forwardTraceparent: settings.flag('FORWARD_TRACEPARENT', false),
    schedule: readSchedule(settings),
    /** Records in flight for each source. In addition, ten times as many fan-outs may wait for their tenant's turn. */
    maxInFlight: settings.integer('MAX_IN_FLIGHT', 1_000, { min: 1, max: 100_000 }),
    maxInFlightBytes: settings.integer('MAX_IN_FLIGHT_BYTES', 64 * MIB, { min: MIB }),
    /** Attempts in flight at all endpoints together. */
    maxAttempts: settings.integer('MAX_ATTEMPTS_IN_FLIGHT', 1_024, { min: 1, max: 16_384 }),
    /** Concurrent attempts of this worker at one endpoint. */
    endpointConcurrency: settings.integer('ENDPOINT_CONCURRENCY', 64, { min: 1, max: 1_000 }),
    breaker: readBreaker(settings),
    /** One in this many successful attempts is logged. Failures are always logged. */
    successLogSample: settings.integer('SUCCESS_LOG_SAMPLE', 100, { min: 1 }),
  };
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;
