import { deriveEventId, parseStrictJson, readEvent, readPostedEvent } from '@webhooks/contracts';
import type { PaymentEvent, PostedEvent } from '@webhooks/contracts';
import { DEFAULT_TENANTS } from '@webhooks/stack';

/** One line of the events file, as it is sent, and what it says when it is an event. */
export interface FeedLine {
  /** Bytes for the topic. */
  readonly record: Buffer;
  /** Text for ingest. */
  readonly text: string;
  /** Absent when the service is expected to refuse the line. */
  readonly event?: PaymentEvent;
  /** Why it is no event. */
  readonly fault?: string;
}

const complete = (posted: PostedEvent): PaymentEvent => {
  const tenantId = posted.tenantId ?? DEFAULT_TENANTS[0];
  return { ...posted, tenantId, id: posted.id ?? deriveEventId(tenantId, posted) };
};

/** The event that a line posted to ingest means, or why ingest has to refuse it. */
function postedEvent(text: string): { readonly event: PaymentEvent } | { readonly fault: string } {
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return { fault: parsed.fault };
  const read = readPostedEvent(parsed.value);
  if (read.ok) return { event: complete(read.event) };
  const [first] = read.violations;
  return { fault: [read.reason, first?.property, first?.reason].filter(Boolean).join(' ') };
}

/** A line without id or tenant gets them here, as a payment system that produces to the topic itself would set them. */
export function readFeedLine(text: string): FeedLine {
  const read = postedEvent(text);
  if ('fault' in read) return { record: Buffer.from(text), text, fault: read.fault };
  const { event } = read;
  const record = Buffer.from(readEvent(Buffer.from(text)).ok ? text : JSON.stringify(event));
  return { record, text, event };
}
