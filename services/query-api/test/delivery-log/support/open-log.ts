import type { KafkaRecord } from '@webhooks/kafka';
import type { RunQuery } from '@webhooks/mongodb';
import { createConcurrencyLimiter } from '@webhooks/http-api';
import type { ApiReply, ApiRequest, Operation } from '@webhooks/http-api';
import { NO_TRACING } from '@webhooks/runtime';
import { composeDeliveryLog } from '../../../src/delivery-log/compose.js';
import type { KnownConfiguration } from '../../../src/configurations.js';
import type { DeliveryLog } from '../../../src/delivery-log/compose.js';
import type { DeliveryRow } from '../../../src/delivery-log/delivery-documents.js';
import type { DeliveryPorts } from '../../../src/delivery-log/operations.js';
import type { Database, Models } from '../../../src/database.js';
import { REF } from './entries.js';
import { openTestDatabase } from '../../payments/support/open-test-database.js';
import type { TestDatabase } from '../../payments/support/open-test-database.js';

export interface OpenLog extends DeliveryLog, Pick<TestDatabase, 'onCommand'> {
  readonly models: Models;
  readonly runQuery: RunQuery<Models>;
  readonly skipped: string[];
  apply(...records: readonly KafkaRecord[]): Promise<void>;
  row(deliveryId: string): Promise<DeliveryRow | null>;
  list(tenantId: string, query?: string): Promise<ApiReply>;
  get(tenantId: string, deliveryId: string): Promise<ApiReply>;
  close(): Promise<void>;
}

/** The only webhook that this instance knows, of any tenant. */
export const WEBHOOK: KnownConfiguration = {
  ...{ revision: 1, enabled: true, eventType: 'PIX_OUT' },
  endpointUrl: 'https://hook.acme.com.br/pix',
  updatedAt: '2026-11-21T14:03:27.512Z',
};

const requestOf = (
  tenantId: string,
  query: string,
  params: Readonly<Record<string, string>>,
): ApiRequest => ({
  identity: { clientId: 'client', tenantId, scopes: new Set(['delivery.read']) },
  requestId: 'request',
  params,
  query: new URLSearchParams(query),
  header: () => undefined,
  body: Buffer.alloc(0),
  isOver: () => false,
});

const operationAt = (operations: readonly Operation[], place: number): Operation => {
  const operation = operations[place];
  if (!operation) throw new Error(`expected an operation at ${place}`);
  return operation;
};

/**
 * One instance of the delivery log on a database; instances of one name share it. `through`: changes the database that
 * the log writes to; default: does not.
 */
export async function openLog(
  name: string,
  catchUp: DeliveryPorts['catchUp'] = () => Promise.resolve('passed'),
  through: (database: Database) => Database = (database) => database,
): Promise<OpenLog> {
  const opened = await openTestDatabase(name);
  const { database } = opened;
  const models = database.models();
  if (!models) throw new Error('expected the database of the tests to be there');
  const skipped: string[] = [];
  const log = composeDeliveryLog({
    database: through(database),
    lists: createConcurrencyLimiter({ total: 1_000 }),
    configurations: { known: (_tenantId, ref) => (ref === REF ? WEBHOOK : undefined) },
    onSkipped: (_record, reason) => {
      skipped.push(reason);
    },
    catchUp,
    startSpan: NO_TRACING.startSpan,
  });
  return {
    ...log,
    onCommand: (listener) => opened.onCommand(listener),
    models,
    runQuery: (statement) => statement(models),
    skipped,
    apply: (...records) => log.projection.apply(records),
    row: (deliveryId) => models.deliveries.findById(deliveryId).lean<DeliveryRow>().exec(),
    list: (tenantId, query = '') => operationAt(log.operations, 0).handle(requestOf(tenantId, query, {})),
    get: (tenantId, deliveryId) =>
      operationAt(log.operations, 1).handle(requestOf(tenantId, '', { deliveryId })),
    close: () => opened.close(),
  };
}
