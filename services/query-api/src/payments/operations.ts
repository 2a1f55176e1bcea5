import { AppError, invalidRequest, readQuery } from '@webhooks/http-api';
import type { ApiReply, ApiRequest, Operation } from '@webhooks/http-api';
import { LIST_PARAMETERS } from '../delivery-log/list-query.js';
import { readTxId } from '../path-ids.js';
import type { CatchUpResult } from '../projection/catch-up.js';
import { readAfterCatchUp } from '../read-after-catch-up.js';

export interface TransactionPorts {
  /** The response body as JSON; undefined when no event reports the Pix or the charge. */
  readonly readTransaction: (tenantId: string, endToEndId: string) => Promise<Buffer | undefined>;
  readonly readCharge: (tenantId: string, txId: string) => Promise<Buffer | undefined>;
  /** Waits until what is on the topic now is projected. */
  readonly waitForEvents: () => Promise<CatchUpResult>;
}

const TRANSACTION_PARAMETERS = { endToEndId: LIST_PARAMETERS.endToEndId };

/** Throws 404 when no event told of it. */
async function answer(name: string, read: () => Promise<Buffer | undefined>, ports: TransactionPorts) {
  const body = await readAfterCatchUp({ read, catchUp: ports.waitForEvents });
  if (!body) throw new AppError('not-found', `no event reported a ${name}`);
  return { status: 200, body };
}

async function getCharge(request: ApiRequest, ports: TransactionPorts): Promise<ApiReply> {
  const txId = readTxId(request);
  const read = () => ports.readCharge(request.identity.tenantId, txId);
  return answer('charge with this txId', read, ports);
}

async function getTransaction(request: ApiRequest, ports: TransactionPorts): Promise<ApiReply> {
  const { endToEndId } = readQuery(request.query, TRANSACTION_PARAMETERS);
  if (endToEndId === undefined) throw invalidRequest([{ property: 'endToEndId', reason: 'is required' }]);
  const read = () => ports.readTransaction(request.identity.tenantId, endToEndId);
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
