import { parseConfigurationRecord } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';

/** What the topic's last record of one key says, as far as a comparison needs it. */
export interface LastRecord {
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
}

const UNREADABLE: LastRecord = { revision: 0, updatedAt: 0 };

/**
 * The last record of each key of `webhooks.configurations`: what compaction will leave and a new worker will read. Memory:
 * some 200 bytes for each configuration of all tenants.
 */
export class TopicPicture {
  private readonly lastByKey = new Map<string, LastRecord>();
  private readonly doubtful = new Set<string>();

  get size(): number {
    return this.lastByKey.size;
  }

  lastOf(key: string): LastRecord | undefined {
    return this.lastByKey.get(key);
  }

  apply({ key, value }: Pick<KafkaRecord, 'key' | 'value'>): void {
    const name = key?.toString('utf8') ?? '';
    const known = this.lastByKey.get(name);
    const last = value === null ? undefined : readLast(value);
    if (last) this.lastByKey.set(name, last);
    else this.lastByKey.delete(name);
    if (isDoubtful(known, last)) this.doubtful.add(name);
    else this.doubtful.delete(name);
  }

  /** Keys whose last record is older than one before it, cannot be read, or was removed. */
  doubts(): readonly string[] {
    return [...this.doubtful];
  }

  /** The key was looked at; a later record may bring a new doubt. */
  settle(key: string): void {
    this.doubtful.delete(key);
  }
}

function readLast(value: Buffer): LastRecord {
  const parsed = parseConfigurationRecord(value);
  if (!parsed.ok) return UNREADABLE;
  const { revision, updatedAt } = parsed.configuration;
  return { revision, updatedAt: Date.parse(updatedAt) };
}

function isDoubtful(known: LastRecord | undefined, last: LastRecord | undefined): boolean {
  if (!last || last === UNREADABLE) return true;
  if (!known) return false;
  return (
    last.revision < known.revision || (last.revision === known.revision && last.updatedAt !== known.updatedAt)
  );
}
