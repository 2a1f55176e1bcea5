import { parseConfigurationRecord } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';

/** What the topic's last record of one key says, as far as a comparison needs it. */
export interface LastRecord {
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** The highest revision of any record of the key so far: readers that saw it apply only what is above. */
  readonly highest: number;
}

/** What is removed or cannot be read has no revision. */
const NOTHING = { revision: 0, updatedAt: 0 };

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
    const last = lastAfter(known, value);
    // Readers pass over a removed record too: what they know by then stays known.
    if (value !== null || known) this.lastByKey.set(name, last);
    if (isDoubtful(known, last)) this.doubtful.add(name);
    else this.doubtful.delete(name);
  }

  /** Keys whose last record has a lower revision than one before it, cannot be read, or was removed. */
  doubts(): readonly string[] {
    return [...this.doubtful];
  }

  /** The key was looked at when `last` was its last record; a doubt that a later one brought stays. */
  settle(key: string, last: LastRecord | undefined): void {
    if (this.lastByKey.get(key) === last) this.doubtful.delete(key);
  }
}

function lastAfter(known: LastRecord | undefined, value: Buffer | null): LastRecord {
  const said = value === null ? NOTHING : readLast(value);
  return { ...said, highest: Math.max(said.revision, known?.highest ?? 0) };
}

function readLast(value: Buffer): Omit<LastRecord, 'highest'> {
  const parsed = parseConfigurationRecord(value);
  if (!parsed.ok) return NOTHING;
  const { revision, updatedAt } = parsed.configuration;
  return { revision, updatedAt: Date.parse(updatedAt) };
}

function isDoubtful(known: LastRecord | undefined, last: LastRecord): boolean {
  if (last.revision < last.highest || last.revision === 0) return true;
  return known?.revision === last.revision && known.updatedAt !== last.updatedAt;
}
