import { parseConfigurationRecord } from '@webhooks/contracts';
import type { EventType, Keyring } from '@webhooks/contracts';
import type { EndOffsets, KafkaRecord, TableReader } from '@webhooks/kafka';
import type { Logger } from '@webhooks/runtime';
import type { ConfigurationTable } from './configuration-table.js';
import { toConfiguration } from './configuration.js';
import type { Configuration } from './configuration.js';

/** A picture not proved to be at the end of the topic for longer than this is stale (contract §5). */
const FRESH_MS = 700;
const POLL_MS = 20;

/** The worker's picture of all configurations, and whether it may be used now. */
export interface Picture {
  readonly size: number;
  isFresh(): boolean;
  /** Resolves as soon as the picture is fresh; at once when it is. Rejects when the worker stops. */
  whenFresh(): Promise<void>;
  find(tenantId: string, ref: string): Configuration | undefined;
  enabledFor(tenantId: string, eventType: EventType): readonly Configuration[];
  /** Resolves when the picture holds everything that was published before this call. Rejects when Kafka cannot be asked. */
  catchUp(): Promise<void>;
}

/** Feeds records of the topic into a table; one that cannot be used is logged, and the known configuration stays. */
export function createPictureFeed(
  table: ConfigurationTable,
  keyring: Keyring,
  log: Logger,
): (record: KafkaRecord) => void {
  return (record) => {
    const key = record.key?.toString('utf8') ?? '';
    if (record.value === null) return;
    const parsed = parseConfigurationRecord(record.value);
    if (!parsed.ok) {
      log.error('a configuration record cannot be read', {
        key,
        partition: record.partition,
        offset: record.offset,
        reason: parsed.reason,
      });
      return;
    }
    try {
      table.apply(toConfiguration(parsed.configuration, keyring));
    } catch (error) {
      log.error('a configuration cannot be used', {
        key,
        reason: error instanceof Error ? error.message : 'unknown',
      });
    }
  };
}

/** Calls back when `done` holds, looking every 20 ms: one timer for all who wait. */
class Waiters {
  private readonly entries = new Set<{
    done: () => boolean;
    resolve: () => void;
    reject: (error: Error) => void;
  }>();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  wait(done: () => boolean): Promise<void> {
    if (this.closed) return Promise.reject(new Error('the worker is stopping'));
    return new Promise((resolve, reject) => {
      this.entries.add({ done, resolve, reject });
      this.timer ??= setInterval(() => this.look(), POLL_MS);
    });
  }

  close(): void {
    this.closed = true;
    for (const entry of this.entries) entry.reject(new Error('the worker is stopping'));
    this.entries.clear();
    this.look();
  }

  private look(): void {
    for (const entry of this.entries) {
      if (!entry.done()) continue;
      this.entries.delete(entry);
      entry.resolve();
    }
    if (this.entries.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

/** One request for end offsets shared by all who asked before it began. */
function shareEnds(fetchEnds: () => Promise<EndOffsets>): () => Promise<EndOffsets> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<EndOffsets> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const request = fetchEnds();
      running = request.catch(() => undefined);
      return request;
    });
    return next;
  };
}

export function createPicture(table: ConfigurationTable, reader: TableReader): Picture & { close(): void } {
  const waiters = new Waiters();
  const ends = shareEnds(() => reader.fetchEnds());
  const isFresh = (): boolean => performance.now() - reader.freshAt() <= FRESH_MS;
  return {
    get size() {
      return table.size;
    },
    isFresh,
    whenFresh: () => (isFresh() ? Promise.resolve() : waiters.wait(isFresh)),
    find: (tenantId, ref) => table.find(tenantId, ref),
    enabledFor: (tenantId, eventType) => table.enabledFor(tenantId, eventType),
    catchUp: async () => {
      const wanted = await ends();
      await waiters.wait(() => reader.passed(wanted));
    },
    close: () => waiters.close(),
  };
}
