import { MAX_PACK_ENTRIES, TOPICS, encodeAttemptPack } from '@webhooks/contracts';
import type { AttemptLogEntry } from '@webhooks/contracts';
import type { PublishWithRetry } from './publish-with-retry.js';

/** Tells `webhooks.attempts` what happened, in packs. */
export interface AttemptLog {
  /** Resolves when the pack that holds this entry is acknowledged by Kafka. */
  append(entry: AttemptLogEntry): Promise<void>;
}

interface Pack {
  readonly entries: AttemptLogEntry[];
  readonly sent: Promise<undefined>;
  readonly send: () => void;
}

/** A rejection, too, when the entries cannot be encoded: whoever waits for the pack is told, and the process lives. */
const publishPack = async (
  publish: PublishWithRetry,
  key: string,
  entries: readonly AttemptLogEntry[],
): Promise<void> => publish({ topic: TOPICS.attempts, key, value: encodeAttemptPack(entries) });

/** Collects entries for `lingerMs` or up to 256, and sends them as one record: an attempt costs a share of a message. */
export function createAttemptLog(publish: PublishWithRetry, lingerMs = 20): AttemptLog {
  let open: Pack | undefined;
  let timer: NodeJS.Timeout | undefined;
  let packs = 0;

  const openPack = (): Pack => {
    const entries: AttemptLogEntry[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    timer = setTimeout(flush, lingerMs);
    packs += 1;
    // Packs hold deliveries of many keys: a running number spreads them over the partitions.
    const key = String(packs);
    return {
      entries,
      sent: promise,
      send: () => void publishPack(publish, key, entries).then(() => resolve(undefined), reject),
    };
  };

  const flush = (): void => {
    clearTimeout(timer);
    const pack = open;
    open = undefined;
    pack?.send();
  };

  return {
    append: (entry) => {
      open ??= openPack();
      const pack = open;
      pack.entries.push(entry);
      if (pack.entries.length >= MAX_PACK_ENTRIES) flush();
      return pack.sent;
    },
  };
}
