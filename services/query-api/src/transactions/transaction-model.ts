import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import type { Transaction } from './merge-facts.js';

/** A transaction as a document of the collection `transactions`. */
export interface TransactionRow extends Transaction {
  /** `tenantId/endToEndId`; no tenant id holds a `/`. */
  readonly _id: string;
  /** Raised by each change; a write names the one it has read. */
  readonly version: number;
}

export type TransactionModel = Model<TransactionRow>;

export const transactionId = (tenantId: string, endToEndId: string): string => `${tenantId}/${endToEndId}`;

const text = { type: String, required: true } as const;
const list = { type: [Schema.Types.Mixed], required: true } as const;

function createSchema(): Schema<TransactionRow> {
  const schema = new Schema<TransactionRow>(
    {
      _id: text,
      tenantId: text,
      endToEndId: text,
      txIds: { type: [String], required: true },
      payments: list,
      reversals: list,
      truncated: { type: Boolean },
      test: { type: Boolean },
      version: { type: Number, required: true },
    },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  // In the order of the answer, so that the first 1,000 of a charge are the same ones each time.
  schema.index({ tenantId: 1, txIds: 1, _id: 1 });
  return schema;
}

export const transactionModelOn = (connection: Connection): TransactionModel =>
  connection.model<TransactionRow>('Transaction', createSchema(), 'transactions');

/** A document as the merge and the views know it. */
export function toTransaction(row: TransactionRow): Transaction {
  const { _id, version, ...transaction } = row;
  return transaction;
}
