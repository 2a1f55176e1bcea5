import { TOPICS } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import { AppError, invalidRequest, readQuery } from '@webhooks/http-api';
import type { ApiReply, Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { Database } from '../database.js';
import { LIST_PARAMETERS } from '../delivery-log/list-query.js';
import { storeEvents, keyOf } from './event-store.js';
import type { EventRow } from './event-store.js';
import { findByKeyOf, findEvent, findOfCharge, mergeRows } from './find-events.js';
import type { FindByKey } from './find-events.js';
import { createNotificationOperation } from './get-notification.js';
import { createListOperation } from './list-transactions.js';
import type { ListTransactionsPorts } from './list-transactions.js';
import { createPullOperation } from './pull-notifications.js';
import type { PullPorts } from './pull-notifications.js';
import { readPage } from './pull-page.js';
import { viewCharge, viewTransaction } from './view-transaction.js';
import { readAfterCatchUp } from '../projection/catch-up.js';
import type { CatchUp, CatchUpResult } from '../projection/catch-up.js';
import type { Projection } from '../projection/projection.js';
import { ACCEPTED, countFacts, positionOf } from '../statements/daily-totals.js';
import type { Counted } from '../statements/daily-totals.js';
import { cursorKeyringOf } from '../projection/generation.js';
import { readTxId } from '../request-parameters.js';

export interface TransactionPorts {
  /** Returns the response body as JSON; undefined when no event reports the Pix. */
  readonly readTransaction: (tenantId: string, endToEndId: string) => Promise<Buffer | undefined>;
  /** Returns the response body as JSON; undefined when no event reports the charge. */
  readonly readCharge: (tenantId: string, txId: string) => Promise<Buffer | undefined>;
  /** Waits until all events that are on the topic now are projected. */
  readonly waitForEvents: () => Promise<CatchUpResult>;
}

const TRANSACTION_PARAMETERS = { endToEndId: LIST_PARAMETERS.endToEndId };

/**
 * The reconciliation queries; `openapi.yaml` describes the same set. They throw 404 when no event reported the
 * payment.
 */
export function createTransactionOperations(ports: TransactionPorts): readonly Operation[] {
  const reply = async (name: string, read: () => Promise<Buffer | undefined>): Promise<ApiReply> => {
    const body = await readAfterCatchUp({ read, catchUp: ports.waitForEvents });
    if (!body) throw new AppError('not-found', `no event reported a ${name}`);
    return { status: 200, body };
  };
  return [
    {
      method: 'GET',
      path: '/integration/v1/pix/cob/:txId',
      scopes: ['cob.read'],
      handle: async (request) => {
        const txId = readTxId(request);
        const { tenantId } = request.identity;
        return reply('charge with this txId', () => ports.readCharge(tenantId, txId));
      },
    },
    {
      method: 'GET',
      path: '/integration/v1/pix/transaction',
      scopes: ['pix.read'],
      query: TRANSACTION_PARAMETERS,
      handle: async ({ identity: { tenantId }, query }) => {
        const { endToEndId } = readQuery(query, TRANSACTION_PARAMETERS);
        if (endToEndId === undefined)
          throw invalidRequest([{ property: 'endToEndId', reason: 'is required' }]);
        const read = () => ports.readTransaction(tenantId, endToEndId);
        return reply('transaction with this endToEndId', read);
      },
    },
  ];
}

interface TransactionOptions
  extends Pick<PullPorts, 'retentionMs' | 'waiting'>, Pick<ListTransactionsPorts, 'lists'> {
  readonly database: Database;
  /**
   * Returns the catch-up of the projection `events`. Undefined while it is not running; then a miss proves nothing.
   */
  readonly catchUp: () => CatchUp | undefined;
}

/**
 * Bytes of one batch: about 200 events. A query may wait for the write of one batch: 0.04 s in the slowest database.
 */
const MAX_BYTES = 64 * 1_024;
/**
 * A query waits up to 2 s for the projection, then for the running lookup, then for its own lookup. So it fails within
 * 5 s when the database is unreachable.
 */
const STATEMENT_MS = 1_400;

function composePull({ database, catchUp, ...rest }: Omit<TransactionOptions, 'lists'>): Operation {
  const failUnavailable = (cause?: unknown): never => {
    throw new AppError('unavailable', 'events are not being consumed at the moment; try again', { cause });
  };
  let known: Keyring | undefined;
  return createPullOperation({
    ...rest,
    keyring: async () => (known ??= await cursorKeyringOf(database.within(REQUEST_MS))),
    projected: async () => {
      const events = catchUp() ?? failUnavailable();
      const at = Date.now();
      const ends = await database.within(REQUEST_MS)(() => events.positions.offsets());
      return { at, ends, pages: new Map() };
    },
    readPage: (...page) => readPage(database.within(REQUEST_MS), ...page),
    ends: () => (catchUp() ?? failUnavailable()).endsFromNow().catch(failUnavailable),
    generation: () => catchUp()?.positions.generation() ?? failUnavailable(),
  });
}

/**
 * Returns a function that renders a response body. Requests that share a lookup get the same array of events, and so
 * the same body: rendering takes up to 9 ms.
 */
function renderOnce(
  find: FindByKey,
  view: (rows: readonly EventRow[], id: string) => Promise<object | undefined>,
) {
  const bodies = new WeakMap<readonly EventRow[], Promise<Buffer | undefined>>();
  return async (tenantId: string, id: string): Promise<Buffer | undefined> => {
    const rows = await find([keyOf(tenantId, id)]);
    const body =
      bodies.get(rows) ?? view(rows, id).then((found) => found && Buffer.from(JSON.stringify(found)));
    bodies.set(rows, body);
    return body;
  };
}

/** Returns what an event adds to the totals. */
const toAccepted = ({
  tenantId,
  eventType,
  cents,
  appendedAt,
  partition = 0,
  offset = 0,
}: EventRow): Counted => ({
  ...positionOf({ topic: TOPICS.events, partition, offset }),
  ...{ tenantId, acceptedAt: Number(appendedAt), of: eventType, cents, to: ACCEPTED },
});

/** Composes the projection of events and the queries about payments. */
export function composePayments(options: TransactionOptions) {
  const { database, catchUp, retentionMs, lists } = options;
  const waitForEvents = async (): Promise<CatchUpResult> => (await catchUp()?.wait()) ?? 'late';
  const within = () => database.within(STATEMENT_MS);
  const [byPix, byCharge] = [findByKeyOf('pix', within), findByKeyOf('charge', within)];
  return {
    projection: {
      name: 'events',
      topics: [TOPICS.events],
      maxBytes: MAX_BYTES,
      // Handlers query a payment when they hear of it.
      readsForOthers: true,
      apply: async (records) => {
        const stored = await storeEvents(database.writing(), records);
        const real = stored.filter(({ test }) => !test);
        await countFacts(database.writing(), real.map(toAccepted));
      },
    } satisfies Projection,
    operations: [
      ...createTransactionOperations({
        readTransaction: renderOnce(byPix, (rows) =>
          Promise.resolve(mergeRows(rows).map(viewTransaction)[0]),
        ),
        readCharge: renderOnce(byCharge, async (rows, txId) =>
          viewCharge(txId, mergeRows(await findOfCharge(byPix, rows))),
        ),
        waitForEvents,
      }),
      createListOperation({ lists, within: () => database.within(REQUEST_MS) }),
      composePull(options),
      createNotificationOperation({
        findEvent: (tenantId, id) => findEvent(database.within(REQUEST_MS), tenantId, id, waitForEvents),
        retentionMs,
      }),
    ],
  };
}
