import { renderBacenCallback, normalizeHeaderName } from '@webhooks/contracts';
import type { AttemptEntry, DeliveryTask } from '@webhooks/contracts';
import { signStandardWebhooks, signVendor } from '@webhooks/outbound';
import type { Sender, SendResult } from '@webhooks/outbound';
import type { Configuration } from '../configurations/configuration.js';

/** The outcome of an attempt. A failure of the endpoint is a value; only a fault of this system is thrown. */
export type AttemptOutcome = { readonly durationMs: number } & (
  | { readonly kind: 'accepted'; readonly status: number }
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'unreachable'; readonly error: string; readonly code: string }
  /** The address check refused the target (`ADDRESS_DENIED`); nothing was sent. A 403 is `refused`. */
  | { readonly kind: 'forbidden'; readonly error: string }
);

/** The status (`200` for an accepted outcome), or the error class. */
export const resultLabel = (outcome: AttemptOutcome): string =>
  'status' in outcome ? String(outcome.status) : outcome.error;

/** The fields for an attempt's result in logs and records, without time and duration. */
export const resultFields = (outcome: AttemptOutcome): Pick<AttemptEntry, 'status' | 'error' | 'code'> => {
  if ('status' in outcome) return { status: outcome.status };
  return { error: outcome.error, ...('code' in outcome ? { code: outcome.code } : {}) };
};

/** `2xx` to `5xx`, or the error class: a bounded set, fit for metric labels and log filters. */
export const outcomeClass = (outcome: AttemptOutcome): string =>
  'status' in outcome ? `${Math.floor(outcome.status / 100)}xx` : outcome.error;

/** Converts the sender's result: a 2xx is accepted, any other status is refused. */
export function toOutcome(result: Exclude<SendResult, { kind: 'withdrawn' | 'throttled' }>): AttemptOutcome {
  const { durationMs } = result;
  if (result.kind === 'unreachable') return result;
  if (result.kind === 'forbidden') return { kind: 'forbidden', error: result.error, durationMs };
  const { status, retryAfter } = result;
  if (status >= 200 && status < 300) return { kind: 'accepted', status, durationMs };
  return { kind: 'refused', status, durationMs, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

export interface AttemptOptions {
  readonly sender: Pick<Sender, 'post'>;
  readonly userAgent: string;
  /** Name of the vendor's signature header: `X-<Vendor>-Signature`. */
  readonly vendorHeader: string;
  /** Whether endpoints get the trace context of an attempt. It would tell them which of our attempts belong together. */
  readonly forwardTraceparent: boolean;
}

/**
 * Returns the headers of a notification as a flat list of names and values. The notification is signed only when the
 * configuration has a secret.
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
  if (options.forwardTraceparent && task.traceparent !== undefined)
    headers.push('traceparent', task.traceparent);
  const secrets = configuration.signingSecrets(now);
  if (secrets.length === 0) return headers;
  const message = { secrets, id: task.eventId, timestampSeconds, body };
  headers.push('webhook-signature', signStandardWebhooks(message), options.vendorHeader, signVendor(message));
  return headers;
}

/**
 * Adds an endpoint's custom headers, except reserved names. config-api rejects these names, but a later change of
 * the vendor's name can make a stored one collide.
 */
function addCustomHeaders(headers: string[], custom: Readonly<Record<string, string>>): void {
  const reserved = new Set(headers.filter((_, index) => index % 2 === 0).map(normalizeHeaderName));
  for (const [name, value] of Object.entries(custom))
    if (!reserved.has(normalizeHeaderName(name))) headers.push(name, value);
}

/**
 * Signs and posts one notification. A failure of the endpoint is a value. Throws or rejects for a fault of this
 * system: a missing key, a closed sender, an event that the format cannot express. `mayStart` is called when a
 * connection is ready, right before the first byte; false withdraws the attempt.
 */
export function attempt(
  task: DeliveryTask,
  configuration: Configuration,
  mayStart: () => boolean,
  options: AttemptOptions,
): Promise<SendResult> {
  const { target, policy } = configuration;
  const body = policy?.format === 'bacen' ? renderBacenCallback(task.body) : task.body;
  const headers = headersOf(task, configuration, options, body);
  if (policy?.headers !== undefined) addCustomHeaders(headers, policy.headers);
  return options.sender.post({
    tenantId: task.tenantId,
    target,
    headers,
    body,
    mayStart,
    timeoutMs: policy?.timeoutMs,
    clientCertificate: policy?.clientCertificate,
  });
}
