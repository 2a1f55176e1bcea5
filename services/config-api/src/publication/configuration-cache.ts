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

/** What a comparison needs of a record. Revision 0: the record is removed or cannot be read. */
export interface PublishedRecord extends Revised {
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** What the topic says of one configuration. */
export interface TopicState {
  /** The record that compaction keeps and a new worker reads. */
  readonly last: PublishedRecord;
  /** The first record of the highest revision, which earlier readers keep. The last record when none can be read. */
  readonly kept: PublishedRecord;
}

/**
 * A last record that differs from the one that earlier readers keep: another record has its revision or a higher one.
 */
export interface Divergence extends PublishedRecord {
  /** The document agrees, or was published again. A later record is another divergence. */
  isSettled: boolean;
}

/** The topic `webhooks.configurations`: the records that readers keep, and the last records that differ from them. */
export class ConfigurationCache {
  readonly #kept = new RevisionTable<PublishedRecord>();
  readonly #divergences = new Map<string, Divergence>();
  /** Offsets of the last mark that says that all configurations are there. */
  complete: readonly number[] | undefined;

  get size(): number {
    return this.#kept.size;
  }

  stateOf({ tenantId, ref }: ConfigurationName): TopicState | undefined {
    const kept = this.#kept.find(tenantId, ref);
    const last = this.#divergences.get(configurationKey(tenantId, ref)) ?? kept;
    return last && { last, kept: kept ?? last };
  }

  apply(record: Pick<KafkaRecord, 'key' | 'value'>): void {
    if (isCompleteMark(record)) this.complete = readCompleteMark(record);
    else this.#applyConfiguration(record);
  }

  #applyConfiguration({ key: bytes, value }: Pick<KafkaRecord, 'key' | 'value'>): void {
    const key = String(bytes ?? '');
    const last = readRecord(key, value);
    if (last.revision > 0) this.#kept.apply(last);
    const kept = this.#kept.find(last.tenantId, last.ref);
    if (kept?.revision === last.revision && kept.updatedAt === last.updatedAt) this.#divergences.delete(key);
    else this.#divergences.set(key, { ...last, isSettled: false });
  }

  /** Divergences that are not settled. */
  divergences(): readonly Divergence[] {
    return [...this.#divergences.values()].filter(({ isSettled }) => !isSettled);
  }
}

/** Names come from the key, because compaction goes by keys. */
function readRecord(key: string, value: Buffer | null): PublishedRecord {
  const slash = key.indexOf('/');
  const [tenantId, ref] = [key.slice(0, slash), key.slice(slash + 1)];
  const parsed = value && parseConfigurationRecord(value);
  // Workers keep the revision of a record that only a newer version can read. Publishing it again would not help.
  const known = parsed?.ok ? parsed.configuration : parsed?.known;
  if (!known) return { tenantId, ref, revision: 0, updatedAt: 0 };
  return { tenantId, ref, revision: known.revision, updatedAt: Date.parse(String(known.updatedAt)) };
}
