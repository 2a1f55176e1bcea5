import {
  RevisionTable,
  configurationKey,
  isCompleteMark,
  parseConfigurationRecord,
  readCompleteMark,
} from '@webhooks/contracts';
import type { Revised } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';

export type ConfigurationName = Omit<Revised, 'revision'>;

/** The fields of a record that a comparison needs. Revision 0: a tombstone, or an unreadable record. */
export interface PublishedRecord extends Revised {
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** The state of one configuration on the topic. */
export interface TopicState {
  /** The last record: compaction retains it, and a new worker reads it. */
  readonly last: PublishedRecord;
  /**
   * The first record of the highest revision: running workers have applied it. The last record when none is readable.
   */
  readonly applied: PublishedRecord;
}

/**
 * A last record that running workers have not applied: an earlier record has the same revision or a higher one.
 */
export interface Divergence extends PublishedRecord {
  /** True when the document agrees, or was published again. A later record makes a new divergence. */
  isSettled: boolean;
}

/** A cache of `webhooks.configurations`: the records that readers apply, and the last records that differ from them. */
export class ConfigurationCache {
  readonly #applied = new RevisionTable<PublishedRecord>();
  readonly #divergences = new Map<string, Divergence>();
  /** The offsets in the last mark `/complete`; undefined without a mark. See `COMPLETE_KEY`. */
  complete: readonly number[] | undefined;

  get size(): number {
    return this.#applied.size;
  }

  stateOf({ tenantId, ref }: ConfigurationName): TopicState | undefined {
    const applied = this.#applied.find(tenantId, ref);
    const last = this.#divergences.get(configurationKey(tenantId, ref)) ?? applied;
    return last && { last, applied: applied ?? last };
  }

  apply(record: Pick<KafkaRecord, 'key' | 'value'>): void {
    if (isCompleteMark(record)) this.complete = readCompleteMark(record.value);
    else this.#applyConfiguration(record);
  }

  #applyConfiguration({ key: bytes, value }: Pick<KafkaRecord, 'key' | 'value'>): void {
    const key = String(bytes ?? '');
    const last = readRecord(key, value);
    if (last.revision > 0) this.#applied.apply(last);
    const row = this.#applied.find(last.tenantId, last.ref);
    if (row?.revision === last.revision && row.updatedAt === last.updatedAt) this.#divergences.delete(key);
    else this.#divergences.set(key, { ...last, isSettled: false });
  }

  /** Divergences that are not settled. */
  divergences(): readonly Divergence[] {
    return [...this.#divergences.values()].filter(({ isSettled }) => !isSettled);
  }
}

/** Reads a record. Tenant and ref are those of the key, because compaction compares keys. */
function readRecord(key: string, value: Buffer | null): PublishedRecord {
  const slash = key.indexOf('/');
  const [tenantId, ref] = [key.slice(0, slash), key.slice(slash + 1)];
  const parsed = value && parseConfigurationRecord(value);
  // Workers apply the revision of a record that only a newer version can read. Publishing it again would not help.
  const known = parsed?.ok ? parsed.configuration : parsed?.known;
  if (!known) return { tenantId, ref, revision: 0, updatedAt: 0 };
  return { tenantId, ref, revision: known.revision, updatedAt: Date.parse(String(known.updatedAt)) };
}
