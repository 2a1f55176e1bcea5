import { toTransaction, transactionId } from '../../../src/transactions/transaction-model.js';
import type { TransactionRow } from '../../../src/transactions/transaction-model.js';
import type { Transaction } from '../../../src/transactions/merge-facts.js';
import type { Change, TransactionStore } from '../../../src/transactions/store-facts.js';

export interface MemoryStore extends TransactionStore {
  /** Documents written, repetitions counted. */
  written(): number;
  /** Documents that somebody else had written since they were read; one that was taken for a new one was not read. */
  lost(): number;
  find(tenantId: string, endToEndId: string): Transaction | undefined;
  findOfCharge(tenantId: string, txId: string): readonly Transaction[];
}

const copy = (row: TransactionRow): TransactionRow => structuredClone(row);

/** A store in memory. `pause` is awaited before each statement, so that others come in between. */
export function memoryStore(pause: () => Promise<void> = () => Promise.resolve()): MemoryStore {
  const rows = new Map<string, TransactionRow>();
  let written = 0;
  let lost = 0;
  return {
    read: async (ids) => {
      await pause();
      return ids
        .map((id) => rows.get(id))
        .filter((row) => row !== undefined)
        .map(copy);
    },
    write: async (changes) => {
      await pause();
      const isAsRead = ({ row, readVersion }: Change): boolean => rows.get(row._id)?.version === readVersion;
      const winning = changes.filter(isAsRead);
      for (const { row } of winning) rows.set(row._id, copy(row));
      written += winning.length;
      lost += changes.filter((one) => one.readVersion !== undefined && !isAsRead(one)).length;
      return winning.length === changes.length;
    },
    written: () => written,
    lost: () => lost,
    find: (tenantId, endToEndId) => {
      const row = rows.get(transactionId(tenantId, endToEndId));
      return row && toTransaction(row);
    },
    findOfCharge: (tenantId, txId) =>
      [...rows.values()]
        .filter((row) => row.tenantId === tenantId && row.txIds.includes(txId))
        .sort((left, right) => (left._id < right._id ? -1 : 1))
        .map(toTransaction),
  };
}
