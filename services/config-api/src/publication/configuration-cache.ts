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

/** One record, as far as a comparison needs it. Revision 0: it is removed, or cannot be read. */
export interface PublishedRecord extends Revised {
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
}

/** What the topic says of one configuration. */
export interface TopicState {
  /** What compaction will leave, and a new worker will read. */
  readonly last: PublishedRecord;
  /** The first record of the highest revision: what readers that saw it keep. The last one when none could be read. */
  readonly kept: PublishedRecord;
}

/** A last record that is not the one that readers keep: one before it has its revision or a higher one, or it has none. */
export interface Divergence extends PublishedRecord {
  /** The document agrees, or was published again. A record that follows is a doubt of its own. */
  isSettled: boolean;
}

/** The topic `webhooks.configurations`: what readers keep of it, and beside it the last records that differ from that. */
export class ConfigurationCache {
  readonly #kept = new RevisionTable<PublishedRecord>();
  readonly #divergences = new Map<string, Divergence>();
  /** The offsets of the topic's last word that all configurations are there. */
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

  /** Those that are not settled yet. */
  divergences(): readonly Divergence[] {
    return [...this.#divergences.values()].filter(({ isSettled }) => !isSettled);
  }
}

/** Named by its key, whatever its value says: the key is what compaction goes by. */
function readRecord(key: string, value: Buffer | null): PublishedRecord {
  const slash = key.indexOf('/');
  const [tenantId, ref] = [key.slice(0, slash), key.slice(slash + 1)];
  const parsed = value && parseConfigurationRecord(value);
  // Of what only a newer version can read, workers keep the revision: published again as it is, it would not be read either.
  const known = parsed?.ok ? parsed.configuration : parsed?.known;
  if (!known) return { tenantId, ref, revision: 0, updatedAt: 0 };
  return { tenantId, ref, revision: known.revision, updatedAt: Date.parse(String(known.updatedAt)) };
}
