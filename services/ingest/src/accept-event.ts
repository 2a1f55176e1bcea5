import { deriveEventId, readPostedEvent } from '@webhooks/contracts';
import type { PaymentEvent, PostedEvent, Violation } from '@webhooks/contracts';
import type { Identity } from '@webhooks/http-api';
import type { Candidate } from './read-candidates.js';

/** The result of one posted event. */
export type EventResult =
  | { readonly status: 'accepted'; readonly id: string }
  | { readonly status: 'unavailable'; readonly id: string }
  | { readonly status: 'forbidden-tenant'; readonly id?: string }
  | { readonly status: 'invalid'; readonly id?: string; readonly violations: readonly Violation[] };

/**
 * Publishes an event. Resolves with true once Kafka acknowledged it with `acks=all`, with false when it did not in
 * time.
 */
export type PublishEvent = (event: PaymentEvent) => Promise<boolean>;

/** The scope of the operator's own payment systems: events of any tenant, without tenant limits. */
export const ANY_TENANT = 'event.write.any';

const idOf = (value: unknown): { id?: string } =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
    ? { id: value.id.slice(0, 64) }
    : {};

/** Gives the event its tenant and, when its sender named none, the id derived from the business fact. */
function stamp(posted: PostedEvent, identity: Identity): PaymentEvent {
  const tenantId = posted.tenantId ?? identity.tenantId;
  return { ...posted, tenantId, id: posted.id ?? deriveEventId(tenantId, posted) };
}

/** The event to publish, or its faults. */
function read(candidate: Candidate, identity: Identity): PaymentEvent | EventResult {
  if ('fault' in candidate)
    return {
      status: 'invalid',
      violations: [{ property: '', reason: candidate.fault }],
    };
  const posted = readPostedEvent(candidate.value);
  if (!posted.ok) return { status: 'invalid', ...idOf(candidate.value), violations: posted.violations };
  if (posted.event.tenantId === undefined && identity.scopes.has(ANY_TENANT)) {
    const violation = { property: 'tenantId', reason: `is required with the scope ${ANY_TENANT}` };
    return { status: 'invalid', ...idOf(candidate.value), violations: [violation] };
  }
  const event = stamp(posted.event, identity);
  if (event.tenantId !== identity.tenantId && !identity.scopes.has(ANY_TENANT))
    return { status: 'forbidden-tenant', id: event.id };
  return event;
}

/**
 * Validate → stamp → publish. Never rejects for the event's faults. Not `async`: its frame would hold the parsed
 * values until Kafka acknowledges, up to twenty times the bytes.
 */
export function acceptEvent(
  candidate: Candidate,
  identity: Identity,
  publish: PublishEvent,
): Promise<EventResult> {
  const event = read(candidate, identity);
  if ('status' in event) return Promise.resolve(event);
  const { id } = event;
  return publish(event).then((done) => ({ status: done ? 'accepted' : 'unavailable', id }));
}
