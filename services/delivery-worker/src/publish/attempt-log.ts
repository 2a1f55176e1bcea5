import { randomBytes } from 'node:crypto';
import { encodeAttemptPack, MAX_PACK_ENTRIES, TOPICS } from '@webhooks/contracts';
import type { PackEntry } from '@webhooks/contracts';
import type { PublishWithRetry } from './publisher.js';

interface Pack extends PromiseWithResolvers<undefined> {
  readonly entries: PackEntry[];
  readonly timer: NodeJS.Timeout;
}

/** Async, so that an encoding fault becomes a rejection and does not end the process. */
const publishPack = async (
  publish: PublishWithRetry,
  key: string,
  entries: readonly PackEntry[],
): Promise<void> => publish({ topic: TOPICS.attempts, key, value: encodeAttemptPack(entries) });

/**
 * Collects entries for `lingerMs` milliseconds (default 20), at most 256, and sends them as one record. So an
 * attempt costs only a fraction of a record.
 */
export function createAttemptLog(publish: PublishWithRetry, lingerMs = 20) {
  let open: Pack | undefined;
  let packs = 0;
  const writer = randomBytes(4).toString('hex');
  const send = (pack: Pack): void => {
    clearTimeout(pack.timer);
    open = undefined;
    packs += 1;
    // The number makes each key unique, which spreads the packs over the partitions.
    publishPack(publish, `${writer}-${packs}`, pack.entries).then(() => pack.resolve(undefined), pack.reject);
  };
  const openPack = (): Pack => {
    const timer = setTimeout(() => send(pack), lingerMs);
    const pack: Pack = { entries: [], timer, ...Promise.withResolvers<undefined>() };
    return pack;
  };
  return {
    /** Resolves when Kafka acknowledged the pack with this entry; rejects when the pack could not be published. */
    append: (entry: PackEntry): Promise<void> => {
      const pack = (open ??= openPack());
      pack.entries.push(entry);
      if (pack.entries.length >= MAX_PACK_ENTRIES) send(pack);
      return pack.promise;
    },
  };
}

/** Publishes attempts to `webhooks.attempts`, in packs. */
export type AttemptLog = ReturnType<typeof createAttemptLog>;
