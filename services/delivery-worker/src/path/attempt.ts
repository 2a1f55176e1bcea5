import { renderBacenCallback, toComparedName } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import { signStandardWebhooks, signVendor } from '@webhooks/outbound';
import type { SendResult, Sender } from '@webhooks/outbound';
import type { Configuration } from '../configurations/configuration.js';

export interface AttemptOptions {
  readonly sender: Pick<Sender, 'post'>;
  readonly userAgent: string;
  /** `X-<Vendor>-Signature`. */
  readonly vendorHeader: string;
}

/** Headers of a notification, and the event's `traceparent` (W3C Trace Context), as a flat list of names and values. Signed only when the configuration has a secret. */
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

/** An endpoint's own headers, but for those that we send: their names are refused at registration, and the vendor's may change. */
function addOwn(headers: string[], own: Readonly<Record<string, string>>): void {
  const ours = new Set(headers.filter((_, index) => index % 2 === 0).map(toComparedName));
  for (const [name, value] of Object.entries(own))
    if (!ours.has(toComparedName(name))) headers.push(name, value);
}

/**
 * Signs and posts one notification. An endpoint's failure is a value; a throw or a rejection is our own fault (no key,
 * closed sender, an event that the endpoint's format cannot tell). `mayStart` is asked once there is a connection.
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
