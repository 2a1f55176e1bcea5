import type { Ask } from '@webhooks/mongodb';
import type { Change, TransactionStore } from './store-facts.js';
import { toTransaction, transactionId } from './transaction-model.js';
import type { TransactionModel, TransactionRow } from './transaction-model.js';
import type { Transaction } from './merge-facts.js';
import { writeRows } from '../write-rows.js';
import type { RowWrite } from '../write-rows.js';

export type AskTransactions = Ask<{ readonly transactions: TransactionModel }>;

/** Documents of one charge that an answer is made of, at most. */
export const MAX_CHARGE_TRANSACTIONS = 1_000;

const writeOf = ({ readVersion, row }: Change): RowWrite<TransactionRow> =>
  readVersion === undefined ? { insert: row } : { replacement: row, readVersion };

/** The transactions in MongoDB; each call is one read or one bulk of writes. */
export const transactionStore = (ask: AskTransactions): TransactionStore => ({
  read: (ids) =>
    ask(({ transactions }) =>
      transactions
        .find({ _id: { $in: [...ids] } })
        .lean<TransactionRow[]>()
        .exec(),
    ),
  write: async (changes) => {
    const known = changes.filter(({ readVersion }) => readVersion !== undefined).length;
    const { replaced, taken } = await ask(({ transactions }) =>
      writeRows(transactions.collection, changes.map(writeOf)),
    );
    return replaced === known && taken.length === 0;
  },
});

/** What is known of one Pix of a tenant. */
export async function findTransaction(
  ask: AskTransactions,
  tenantId: string,
  endToEndId: string,
): Promise<Transaction | undefined> {
  const id = transactionId(tenantId, endToEndId);
  const row = await ask(({ transactions }) => transactions.findById(id).lean<TransactionRow>().exec());
  return row ? toTransaction(row) : undefined;
}

/** What is known of the Pix of one charge of a tenant, one more than an answer is made of. */
export async function findOfCharge(
  ask: AskTransactions,
  tenantId: string,
  txId: string,
): Promise<readonly Transaction[]> {
  const rows = await ask(({ transactions }) =>
    transactions
      .find({ tenantId, txIds: txId })
      .sort({ _id: 1 })
      .limit(MAX_CHARGE_TRANSACTIONS + 1)
      .lean<TransactionRow[]>()
      .exec(),
  );
  return rows.map(toTransaction);
}
