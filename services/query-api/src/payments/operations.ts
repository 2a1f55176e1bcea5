import { PATTERNS } from '@webhooks/contracts';
import { AppError, invalidRequest, readQuery } from '@webhooks/http-api';
import type { ApiReply, ApiRequest, Operation, QueryParameters } from '@webhooks/http-api';
import type { CatchUpResult } from '../projection/catch-up.js';
import type { Transaction } from './merge-events.js';
import { viewCharge } from './view-charge.js';
import { viewTransaction } from './view-transaction.js';
import { readAfterCatchUp } from '../read-after-catch-up.js';

export interface TransactionPorts {
  readonly findTransaction: (tenantId: string, endToEndId: string) => Promise<Transaction | undefined>;
  /** Of each Pix that an event of this charge names. */
  readonly findOfCharge: (tenantId: string, txId: string) => Promise<readonly Transaction[]>;
  /** Waits until what is on the topic now is projected. */
  readonly waitForEvents: () => Promise<CatchUpResult>;
}

const TX_ID = new RegExp(PATTERNS.dynamicTxId, 'u');
const END_TO_END_ID = new RegExp(PATTERNS.endToEndId, 'u');
const TX_ID_RULE = 'must be 26 to 35 letters and digits';
const END_TO_END_ID_RULE = 'must be 32 letters and digits';

const TRANSACTION_PARAMETERS: QueryParameters<{ readonly endToEndId: string }> = {
  endToEndId: {
    expected: END_TO_END_ID_RULE,
    parse: (text) => (END_TO_END_ID.test(text) ? text : undefined),
  },
};

function readTxId({ params }: ApiRequest): string {
  const txId = params['txId'] ?? '';
  if (!TX_ID.test(txId)) throw invalidRequest([{ property: 'txId', reason: TX_ID_RULE }]);
  return txId;
}

function readEndToEndId({ query }: ApiRequest): string {
  const { endToEndId } = readQuery(query, TRANSACTION_PARAMETERS);
  if (endToEndId === undefined) {
    throw invalidRequest([{ property: 'endToEndId', reason: 'is required' }]);
  }
  return endToEndId;
}

async function answerCharge(request: ApiRequest, ports: TransactionPorts): Promise<ApiReply> {
  const txId = readTxId(request);
  const { tenantId } = request.identity;
  const body = await readAfterCatchUp({
    read: async () => viewCharge(txId, await ports.findOfCharge(tenantId, txId)),
    // Not so when a reversal came first: to whoever asks, it says "not paid".
    isWhole: ({ status }) => status === 'CONCLUIDA',
    catchUp: ports.waitForEvents,
  });
  if (!body) throw new AppError('not-found', 'no event reported a charge with this txId');
  return { status: 200, body };
}

async function answerTransaction(request: ApiRequest, ports: TransactionPorts): Promise<ApiReply> {
  const endToEndId = readEndToEndId(request);
  const found = await readAfterCatchUp({
    read: () => ports.findTransaction(request.identity.tenantId, endToEndId),
    isWhole: ({ payments }) => payments.length > 0,
    catchUp: ports.waitForEvents,
  });
  if (!found) throw new AppError('not-found', 'no event reported a transaction with this endToEndId');
  return { status: 200, body: viewTransaction(found) };
}

/** The reconciliation queries; `openapi.yaml` describes the same set. */
export const createTransactionOperations = (ports: TransactionPorts): readonly Operation[] => [
  {
    method: 'GET',
    path: '/integration/v1/pix/cob/:txId',
    scopes: ['cob.read'],
    handle: (request) => answerCharge(request, ports),
  },
  {
    method: 'GET',
    path: '/integration/v1/pix/transaction',
    scopes: ['pix.read'],
    query: TRANSACTION_PARAMETERS,
    handle: (request) => answerTransaction(request, ports),
  },
];
