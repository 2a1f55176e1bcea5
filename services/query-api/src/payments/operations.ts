import { AppError, invalidRequest, readQuery } from '@webhooks/http-api';
import type { ApiReply, ApiRequest, Operation } from '@webhooks/http-api';
import { LIST_PARAMETERS } from '../delivery-log/list-query.js';
import { readTxId } from '../path-ids.js';
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

const TRANSACTION_PARAMETERS = { endToEndId: LIST_PARAMETERS.endToEndId };

/** Throws 404 when no event told of it. */
async function answer(name: string, read: () => Promise<object | undefined>, ports: TransactionPorts) {
  const body = await readAfterCatchUp({ read, catchUp: ports.waitForEvents });
  if (!body) throw new AppError('not-found', `no event reported a ${name}`);
  return { status: 200, body };
}

async function getCharge(request: ApiRequest, ports: TransactionPorts): Promise<ApiReply> {
  const txId = readTxId(request);
  const { tenantId } = request.identity;
  const read = async () => viewCharge(txId, await ports.findOfCharge(tenantId, txId));
  return answer('charge with this txId', read, ports);
}

async function getTransaction(request: ApiRequest, ports: TransactionPorts): Promise<ApiReply> {
  const { endToEndId } = readQuery(request.query, TRANSACTION_PARAMETERS);
  if (endToEndId === undefined) throw invalidRequest([{ property: 'endToEndId', reason: 'is required' }]);
  const read = async () => {
    const found = await ports.findTransaction(request.identity.tenantId, endToEndId);
    return found && viewTransaction(found);
  };
  return answer('transaction with this endToEndId', read, ports);
}

/** The reconciliation queries; `openapi.yaml` describes the same set. */
export const createTransactionOperations = (ports: TransactionPorts): readonly Operation[] => [
  {
    method: 'GET',
    path: '/integration/v1/pix/cob/:txId',
    scopes: ['cob.read'],
    handle: (request) => getCharge(request, ports),
  },
  {
    method: 'GET',
    path: '/integration/v1/pix/transaction',
    scopes: ['pix.read'],
    query: TRANSACTION_PARAMETERS,
    handle: (request) => getTransaction(request, ports),
  },
];
