import { setTimeout as pause } from 'node:timers/promises';
import type { Keyring } from '@webhooks/contracts';
import { AppError, createConcurrencyLimiter, readQuery, wholeNumber } from '@webhooks/http-api';
import type { ApiReply, ApiRequest, Operation } from '@webhooks/http-api';
import type { EndOffsets } from '@webhooks/kafka';
import { shareNext } from '@webhooks/runtime';
import { LIST_PARAMETERS } from '../delivery-log/list-query.js';
import { MAX_EVENTS } from './find-events.js';
import { CURSOR, formatCursor, openCursor, sealCursor } from './pull-page.js';
import type { Projected, PullCursor, PullPage, PullRequest } from './pull-page.js';

export interface PullPorts {
  /** Returns the offsets that are projected now. */
  readonly projected: () => Promise<Projected>;
  readonly readPage: (request: PullRequest, cursor: PullCursor, projected: Projected) => Promise<PullPage>;
  /** Returns the end offsets of the topic, by a request that begins now. */
  readonly ends: () => Promise<EndOffsets>;
  /** Returns the current rebuild generation; see `generationOf`. */
  readonly generation: () => string;
  /** Returns the keys that seal cursors, the same in all instances. */
  readonly keyring: () => Promise<Keyring>;
  /** Milliseconds for which a chain may continue after it had last read everything. */
  readonly retentionMs: number;
  /** Requests that may wait at the same time: in all, and for one tenant. */
  readonly waiting: { readonly total: number; readonly perTenant: number };
}

const LIMIT = 100;
/** Frozen by openapi.yaml. Many proxies close a request after 30 s. */
const MAX_WAIT_SECONDS = 25;
/**
 * All waiting requests poll at the same ticks, so they share a page. A notification is delayed by one
 * tick and the interval of the projection, 200 ms: by 0.5 s at most.
 */
const TICK_MS = 250;

export const PULL_PARAMETERS = {
  after: {
    expected: 'must be now or the nextCursor of a response',
    parse: (text: string) => (text === 'now' || CURSOR.test(text) ? text : undefined),
  },
  eventType: LIST_PARAMETERS.eventType,
  limit: wholeNumber(1, MAX_EVENTS),
  wait: wholeNumber(0, MAX_WAIT_SECONDS),
};

const expired = (reason: string): AppError =>
  new AppError('cursor-expired', `${reason}; begin again without \`after\``);

type Open = (text: string) => PullCursor | undefined;

/**
 * Returns the position at which the first page begins. Throws 422 for a cursor of another generation, tenant or key,
 * and for one after which events may have expired.
 */
async function startOf(text: string | undefined, open: Open, ports: PullPorts): Promise<PullCursor> {
  const start = { generation: ports.generation(), caughtUpAt: Date.now(), first: 0 };
  if (text === undefined) return { ...start, offsets: new Map() };
  if (text === 'now') return { ...start, offsets: await ports.ends() };
  const after = open(text);
  if (after === undefined) throw expired('the cursor is not valid for this tenant');
  if (after.generation !== start.generation) throw expired('the projection was rebuilt');
  if (after.caughtUpAt > start.caughtUpAt - ports.retentionMs) return after;
  throw expired('events after it may have expired');
}

/**
 * Skips empty pages. Returns the first page with notifications, or the current page when `isOver`. Requests with the
 * same cursor and positions share a page.
 */
async function pull(
  request: PullRequest,
  { cursor, positions }: { cursor: PullCursor; positions: Projected },
  { readPage, projected }: PullPorts,
  isOver: () => boolean,
): Promise<PullPage> {
  for (;;) {
    const key = JSON.stringify([request, formatCursor(cursor)]);
    const shared = positions.pages.get(key) ?? readPage(request, cursor, positions);
    positions.pages.set(key, shared);
    const page = await shared;
    if (page.data.length > 0 || isOver()) return page;
    cursor = page.next;
    if (!page.hasMore) positions = await projected();
  }
}

/**
 * Whether the chain has recently read everything. Such a request begins at the common tick, so it reads at most four
 * pages a second.
 */
const isAtEnd = ({ first, offsets, caughtUpAt }: PullCursor): boolean =>
  first === 0 && offsets.size > 0 && caughtUpAt > Date.now() - MAX_WAIT_SECONDS * 1_000;

/**
 * Creates the operation that pulls notifications, for tenants without a public address or after an outage.
 * `openapi.yaml` describes it.
 */
export function createPullOperation(ports: PullPorts): Operation {
  const waitLimiter = createConcurrencyLimiter(ports.waiting);
  // A page can read a thousand documents and show none. One tenant must not take all connections of the database.
  const readLimiter = createConcurrencyLimiter(ports.waiting);
  // All waiting requests share the positions of one tick, so chains of a tenant reach the same cursor.
  const nextTick = shareNext(ports.projected, () => pause(TICK_MS));
  const handle = async ({ identity, query, ...call }: ApiRequest): Promise<ApiReply> => {
    const { after, wait = 0, limit = LIMIT, ...filter } = readQuery(query, PULL_PARAMETERS);
    const request = { tenantId: identity.tenantId, limit, ...filter };
    const endAt = performance.now() + wait * 1_000;
    const isOver = (): boolean => call.isOver() || performance.now() >= endAt;
    return (wait > 0 ? waitLimiter : readLimiter).run(identity, async () => {
      const ring = await ports.keyring();
      const cursor = await startOf(after, (text) => openCursor(ring, text, request.tenantId), ports);
      const startsAtTick = wait > 0 && isAtEnd(cursor);
      const positions = await (startsAtTick ? nextTick() : ports.projected());
      const later = { ...ports, projected: nextTick };
      const { data, next, hasMore } = await pull(request, { cursor, positions }, later, isOver);
      const nextCursor = sealCursor(ring, next, request.tenantId);
      return { status: 200, body: { data, results: data.length, nextCursor, hasMore } };
    });
  };
  const path = '/integration/v1/notifications';
  return { method: 'GET', path, scopes: ['event.read'], query: PULL_PARAMETERS, handle };
}
