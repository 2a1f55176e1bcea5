import { publishSpan, readTraceparent } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { AppError, invalidRequest, scopeChallenge } from '@webhooks/http-api';
import type { ApiReply, ApiRequest, SharedBudget, TenantLimiter } from '@webhooks/http-api';
import { PENDING_RECORD_BYTES } from '@webhooks/kafka';
import type { Tracing } from '@webhooks/runtime';
import { ANY_TENANT, acceptEvent } from './accept-event.js';
import type { EventResult, PublishEvent } from './accept-event.js';
import { readCandidates } from './read-candidates.js';
import type { Posted } from './read-candidates.js';

const ANY_TENANT_CHALLENGE = scopeChallenge([ANY_TENANT]);
const NONE_ACCEPTED = 'none of the events was accepted';

/** 503: Kafka does not acknowledge, or too many bytes wait for it. */
export const notDurable = (members = {}) =>
  new AppError('unavailable', 'Kafka did not acknowledge the events in time; post them again', {
    shed: { reason: 'kafka' },
    members,
  });

/** 429: the tenant's share of what waits for Kafka is used up. */
export const tooManyPending = (tenantId: string) =>
  new AppError('too-many-requests', 'too many events of this tenant wait for Kafka; send these again', {
    shed: { reason: 'tenant-share', tenantId },
  });

export interface PostPorts {
  readonly publish: PublishEvent;
  readonly tenantEvents: TenantLimiter;
  /** Bytes of events that wait for Kafka. */
  readonly pending: SharedBudget;
  readonly tracing: Pick<Tracing, 'arrive' | 'unsampled'>;
}

/** One event: 202, or its fault as a problem. */
function replyToOne(result: EventResult): ApiReply {
  switch (result.status) {
    case 'accepted':
      return { status: 202, body: { id: result.id, status: result.status } };
    case 'invalid':
      throw invalidRequest(result.violations);
    case 'forbidden-tenant':
      throw new AppError('forbidden-tenant', 'the access token is not for the tenant of this event', {
        headers: ANY_TENANT_CHALLENGE,
      });
    case 'unavailable':
      throw notDurable();
  }
}

/** Several events: 202 when at least one was accepted, else the gravest status, with the same list. */
function replyToBatch(results: readonly EventResult[], lines: readonly (number | undefined)[]): ApiReply {
  const indexed = results.map((result, index) => {
    const line = lines[index];
    return { index, ...(line === undefined ? {} : { line }), ...result };
  });
  const has = (status: EventResult['status']): boolean => results.some((result) => result.status === status);
  if (has('accepted')) return { status: 202, body: { results: indexed } };
  if (has('unavailable')) throw notDurable({ results: indexed });
  const members = { results: indexed };
  if (has('forbidden-tenant'))
    throw new AppError('forbidden-tenant', NONE_ACCEPTED, { members, headers: ANY_TENANT_CHALLENGE });
  throw new AppError('no-event-accepted', NONE_ACCEPTED, { members });
}

/**
 * A body counts for at least one event in this many bytes, because it costs CPU time by its bytes. An event has about
 * 400 bytes.
 */
const BYTES_OF_EVENT = 2_048;

/**
 * Reads the events of a body and takes them from the tenant's limit. A body that is refused as a whole counts by its
 * bytes. Throws 429, and takes nothing, when the tenant has fewer left; of an array
 * that is known once it is parsed.
 */
function readCounted(request: ApiRequest, tenantEvents: TenantLimiter): Posted {
  const ofBytes = Math.ceil(request.body.byteLength / BYTES_OF_EVENT);
  let count = 0;
  const check = (events: number): void => {
    count = 0;
    tenantEvents.check(request.identity, events);
    count = ofBytes;
  };
  check(ofBytes);
  try {
    const posted = readCandidates(request, check);
    count = Math.max(ofBytes, posted.candidates.length);
    return posted;
  } finally {
    tenantEvents.take(request.identity, count);
  }
}

/**
 * Begins to publish the events of a body. Returns their `lines` in an NDJSON body, the bytes that are `held` until Kafka responds, and
 * `end` of a sampled span. A separate function, because its frame holds the parsed values. Only the encoded bytes wait for Kafka.
 */
function begin(request: ApiRequest, ports: PostPorts) {
  const { batch, candidates } = readCounted(request, ports.tenantEvents);
  const held = request.body.byteLength + candidates.length * PENDING_RECORD_BYTES;
  ports.pending.take(request.identity, held);
  // The flag of anybody else would let one tenant have all its events traced.
  const isTrusted = request.identity.scopes.has(ANY_TENANT);
  const sent = isTrusted ? readTraceparent(request.header('traceparent')) : undefined;
  const { arrive, unsampled } = ports.tracing;
  const { traceparent = unsampled(), end } = arrive(sent, () => publishSpan(candidates.length));
  const publish = (event: PaymentEvent): Promise<boolean> => ports.publish(event, traceparent);
  const results = candidates.map((candidate) => acceptEvent(candidate, request.identity, publish));
  return { batch, lines: candidates.map(({ line }) => line), results, held, end };
}

/**
 * `POST /integration/v1/events`: responds only after Kafka acknowledged. Each event counts for its sender's tenant, a
 * refused one too, and a body for at least one event in 2 KiB. A batch beyond the tenant's limit is 429 as a whole.
 */
export async function postEvents(request: ApiRequest, ports: PostPorts): Promise<ApiReply> {
  const { batch, lines, results: accepting, held, end } = begin(request, ports);
  const release = (): void => ports.pending.release(request.identity, held);
  const results = await Promise.all(accepting).finally(release);
  end?.(results.some(({ status }) => status === 'unavailable') ? { 'error.type': 'unavailable' } : {});
  const [only] = results;
  return !batch && only ? replyToOne(only) : replyToBatch(results, lines);
}
