import { deriveEventId, readPostedEvent } from '@webhooks/contracts';
import type { PaymentEvent, PostedEvent, Violation } from '@webhooks/contracts';
import type { Identity } from '@webhooks/http-api';
import type { Candidate } from './read-candidates.js';

/** What became of one posted event. */
export type EventResult =
  | { readonly status: 'accepted'; readonly id: string }
  | { readonly status: 'unavailable'; readonly id: string }
  | { readonly status: 'forbidden-tenant'; readonly id?: string }
  | { readonly status: 'invalid'; readonly id?: string; readonly violations: readonly Violation[] };

/** Makes an event durable: resolves true once Kafka acknowledged it with `acks=all`, false when it did not in time. */
export type PublishEvent = (event: PaymentEvent) => Promise<boolean>;

/** The scope of the operator's own payment systems: events of any tenant, and no limit for tenants. */
export const ANY_TENANT = 'event.write.any';

const idOf = (value: unknown): { id?: string } =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
    ? { id: value.id.slice(0, 64) }
    : {};

/** Gives the event its tenant and, when its sender named none, the id that the business fact has. */
function stamp(posted: PostedEvent, identity: Identity): PaymentEvent {
  const tenantId = posted.tenantId ?? identity.tenantId;
  return { ...posted, tenantId, id: posted.id ?? deriveEventId(tenantId, posted) };
}

/** Validate → stamp → publish: one posted event becomes durable, or its faults are named. Never throws for the event's faults. */
export async function acceptEvent(
  candidate: Candidate,
  identity: Identity,
  publish: PublishEvent,
): Promise<EventResult> {
  if ('fault' in candidate)
    return {
      status: 'invalid',
      violations: [{ property: '', reason: candidate.fault }],
    };
  const read = readPostedEvent(candidate.value);
  if (!read.ok) return { status: 'invalid', ...idOf(candidate.value), violations: read.violations };
  if (read.event.tenantId === undefined && identity.scopes.has(ANY_TENANT)) {
    const violation = { property: 'tenantId', reason: `is required with the scope ${ANY_TENANT}` };
    return { status: 'invalid', ...idOf(candidate.value), violations: [violation] };
  }
  const event = stamp(read.event, identity);
  if (event.tenantId !== identity.tenantId && !identity.scopes.has(ANY_TENANT)) {
    return { status: 'forbidden-tenant', id: event.id };
  }
  return { status: (await publish(event)) ? 'accepted' : 'unavailable', id: event.id };
}
