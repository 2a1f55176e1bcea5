import type { Fact } from './fact.js';
import { mergeFacts } from './merge-facts.js';
import type { Transaction } from './merge-facts.js';
import { toTransaction, transactionId } from './transaction-model.js';
import type { TransactionRow } from './transaction-model.js';

/** One document to be written: a new one, or in the place of the version that was read. */
export interface Change {
  readonly readVersion: number | undefined;
  readonly row: TransactionRow;
}

/** Where the transactions lie. */
export interface TransactionStore {
  /** Those of the documents that there are. */
  readonly read: (ids: readonly string[]) => Promise<readonly TransactionRow[]>;
  /** Writes every document that nobody else has written since it was read; false when some were. */
  readonly write: (changes: readonly Change[]) => Promise<boolean>;
}

type SomeFacts = [Fact, ...Fact[]];

/** Each lost race means that somebody else has written: it takes so many writers of one document to lose as often. */
const MAX_ROUNDS = 20;

function byTransaction(facts: readonly Fact[]): Map<string, SomeFacts> {
  const groups = new Map<string, SomeFacts>();
  for (const fact of facts) {
    const id = transactionId(fact.tenantId, fact.endToEndId);
    const group = groups.get(id);
    if (group) group.push(fact);
    else groups.set(id, [fact]);
  }
  return groups;
}

function changeOf(id: string, facts: SomeFacts, row: TransactionRow | undefined): Change | undefined {
  const before: Transaction | undefined = row && toTransaction(row);
  const after = mergeFacts(before, facts);
  if (after === before) return undefined;
  return { readVersion: row?.version, row: { _id: id, ...after, version: (row?.version ?? 0) + 1 } };
}

/**
 * Adds facts to the documents of their transactions, first as if all were new. One who finds that some were not, or who
 * lost a race, reads and merges again, so that instances may do so at the same time and a repetition changes nothing.
 * Throws when it loses 20 times in a row.
 */
export async function storeFacts(facts: readonly Fact[], store: TransactionStore): Promise<void> {
  let pending = byTransaction(facts);
  for (let round = 0; pending.size > 0; round += 1) {
    if (round > MAX_ROUNDS)
      throw new Error(`others wrote the same transactions ${MAX_ROUNDS} times in a row`);
    // Most transactions are new: only when some were not is it worth the time to read them.
    const known = round === 0 ? [] : await store.read([...pending.keys()]);
    const rows = new Map(known.map((row) => [row._id, row]));
    const changes = [...pending]
      .map(([id, group]) => changeOf(id, group, rows.get(id)))
      .filter((change) => change !== undefined);
    if (changes.length === 0 || (await store.write(changes))) return;
    // Which of them were lost is not told; of those that were not, the next reading finds nothing to change.
    const unsure = new Set(changes.map(({ row }) => row._id));
    pending = new Map([...pending].filter(([id]) => unsure.has(id)));
  }
}
