import type { DeliveryTask } from '@webhooks/contracts';
import { signStandardWebhooks, signVendor } from '@webhooks/outbound';
import type { SendResult, Sender } from '@webhooks/outbound';
import type { Configuration } from '../configurations/configuration.js';

export interface AttemptOptions {
  readonly sender: Sender;
  readonly userAgent: string;
  /** `X-<Vendor>-Signature`. */
  readonly vendorHeader: string;
}

/** Headers of a notification, and the event's `traceparent` (W3C Trace Context), as a flat list of names and values. Signed only when the configuration has a secret. */
function headersOf(task: DeliveryTask, configuration: Configuration, options: AttemptOptions): string[] {
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
  const message = { secrets, id: task.eventId, timestampSeconds, body: task.body };
  headers.push('webhook-signature', signStandardWebhooks(message), options.vendorHeader, signVendor(message));
  return headers;
}

/**
 * Signs and posts one notification. An endpoint's failure is a value; a throw or a rejection is our own fault (no key,
 * closed sender). `mayStart` is asked once there is a connection.
 */
export function attempt(
  task: DeliveryTask,
  configuration: Configuration,
  mayStart: () => boolean,
  options: AttemptOptions,
): Promise<SendResult> {
  const headers = headersOf(task, configuration, options);
  const { tenantId, body } = task;
  return options.sender.post({ tenantId, target: configuration.target, headers, body, mayStart });
}
