import { parseConfigurationRecord } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';

/** What the topic's last record of one key says, as far as a comparison needs it. */
export interface LastRecord {
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** The highest revision of any record of the key so far: readers that saw it apply only what is above. */
  readonly highest: number;
  /** When the first record with that revision was changed: it is the one that readers keep. */
  readonly highestAt: number;
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
    if (isDoubtful(last)) this.doubtful.add(name);
    else this.doubtful.delete(name);
  }

  /** Keys whose last record is not what readers keep, because one before it has its revision or a higher one, or it has none. */
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
  if (known && known.highest >= said.revision)
    return { ...said, highest: known.highest, highestAt: known.highestAt };
  return { ...said, highest: said.revision, highestAt: said.updatedAt };
}

function readLast(value: Buffer): typeof NOTHING {
  const parsed = parseConfigurationRecord(value);
  if (!parsed.ok) return NOTHING;
  const { revision, updatedAt } = parsed.configuration;
  return { revision, updatedAt: Date.parse(updatedAt) };
}

const isDoubtful = ({ revision, updatedAt, highest, highestAt }: LastRecord): boolean =>
  revision === 0 || revision < highest || updatedAt !== highestAt;
