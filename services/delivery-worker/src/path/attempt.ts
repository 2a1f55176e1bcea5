import { renderBacenCallback, toComparedName } from '@webhooks/contracts';
import type { AttemptEntry, DeliveryTask } from '@webhooks/contracts';
import { signStandardWebhooks, signVendor } from '@webhooks/outbound';
import type { Sender, SendResult } from '@webhooks/outbound';
import type { Configuration } from '../configurations/configuration.js';

/** The outcome of an attempt. An endpoint's failure is a value; only our own failure is thrown. */
export type AttemptOutcome = { readonly durationMs: number } & (
  | { readonly kind: 'accepted'; readonly status: number }
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'unreachable'; readonly error: string; readonly code: string }
  | { readonly kind: 'forbidden'; readonly error: string }
);

/** The status, or the class of error. */
export const failureOf = (outcome: AttemptOutcome): string =>
  'status' in outcome ? String(outcome.status) : outcome.error;

/** The result of an attempt in its records, besides time and duration. */
export const failureFields = (outcome: AttemptOutcome): Pick<AttemptEntry, 'status' | 'error' | 'code'> => {
  if ('status' in outcome) return { status: outcome.status };
  return { error: outcome.error, ...('code' in outcome ? { code: outcome.code } : {}) };
};

/** `2xx` to `5xx`, or the class of error: a bounded set, for labels and operators. */
export const classOf = (outcome: AttemptOutcome): string =>
  'status' in outcome ? `${Math.floor(outcome.status / 100)}xx` : outcome.error;

export function toOutcome(result: Exclude<SendResult, { kind: 'withdrawn' | 'throttled' }>): AttemptOutcome {
  const { durationMs } = result;
  if (result.kind === 'unreachable')
    return { kind: 'unreachable', error: result.error, code: result.code, durationMs };
  if (result.kind === 'forbidden') return { kind: 'forbidden', error: result.error, durationMs };
  const { status, retryAfter } = result;
  if (status >= 200 && status < 300) return { kind: 'accepted', status, durationMs };
  return { kind: 'refused', status, durationMs, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

export interface AttemptOptions {
  readonly sender: Pick<Sender, 'post'>;
  readonly userAgent: string;
  /** `X-<Vendor>-Signature`. */
  readonly vendorHeader: string;
}

/**
 * Headers of a notification as a flat list of names and values, with the event's `traceparent` (W3C Trace Context).
 * Signed only when the configuration has a secret.
 */
function headersOf(
  task: DeliveryTask,
  configuration: Configuration,
  options: AttemptOptions,
  body: Buffer,
): string[] {
  const now = Date.now();
  const timestampSeconds = Math.floor(now / 1_000);
  const headers = [
    'content-type',
    'application/json',
    'user-agent',
    options.userAgent,
    'webhook-id',
    task.eventId,
    'webhook-timestamp',
    String(timestampSeconds),
    'webhook-attempt',
    String(task.attempt),
  ];
  if (task.traceparent !== undefined) headers.push('traceparent', task.traceparent);
  const secrets = configuration.signingSecrets(now);
  if (secrets.length === 0) return headers;
  const message = { secrets, id: task.eventId, timestampSeconds, body };
  headers.push('webhook-signature', signStandardWebhooks(message), options.vendorHeader, signVendor(message));
  return headers;
}

/**
 * Adds an endpoint's own headers, except those that we send. Registration refuses our names, but the vendor's name
 * may change.
 */
function addOwn(headers: string[], own: Readonly<Record<string, string>>): void {
  const ours = new Set(headers.filter((_, index) => index % 2 === 0).map(toComparedName));
  for (const [name, value] of Object.entries(own))
    if (!ours.has(toComparedName(name))) headers.push(name, value);
}

/**
 * Signs and posts one notification. An endpoint's failure is a value. It throws or rejects for our own faults: no
 * key, a closed sender, an event that the format cannot express. `mayStart` is called once there is a connection.
 */
export function attempt(
  task: DeliveryTask,
  configuration: Configuration,
  mayStart: () => boolean,
  options: AttemptOptions,
): Promise<SendResult> {
  const { target, terms } = configuration;
  const body = terms?.format === 'bacen' ? renderBacenCallback(task.body) : task.body;
  const headers = headersOf(task, configuration, options, body);
  if (terms?.headers !== undefined) addOwn(headers, terms.headers);
  return options.sender.post({
    tenantId: task.tenantId,
    target,
    headers,
    body,
    mayStart,
    timeoutMs: terms?.timeoutMs,
    clientCertificate: terms?.clientCertificate,
  });
}
