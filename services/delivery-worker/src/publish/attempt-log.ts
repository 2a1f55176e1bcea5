import { randomBytes } from 'node:crypto';
import { encodeAttemptPack, MAX_PACK_ENTRIES, TOPICS } from '@webhooks/contracts';
import type { PackEntry } from '@webhooks/contracts';
import type { PublishWithRetry } from './publisher.js';

/** Tells `webhooks.attempts` what happened, in packs. */
export interface AttemptLog {
  /** Resolves when the pack that holds this entry is acknowledged by Kafka. */
  append(entry: PackEntry): Promise<void>;
}

interface Pack extends PromiseWithResolvers<undefined> {
  readonly entries: PackEntry[];
  readonly timer: NodeJS.Timeout;
}

/** A rejection, too, when the entries cannot be encoded: whoever waits for the pack is told, and the process lives. */
const publishPack = async (
  publish: PublishWithRetry,
  key: string,
  entries: readonly PackEntry[],
): Promise<void> => publish({ topic: TOPICS.attempts, key, value: encodeAttemptPack(entries) });

/** Collects entries for `lingerMs` or up to 256, and sends them as one record: an attempt costs a share of a message. */
export function createAttemptLog(publish: PublishWithRetry, lingerMs = 20): AttemptLog {
  let open: Pack | undefined;
  let packs = 0;
  const writer = randomBytes(4).toString('hex');
  const send = (pack: Pack): void => {
    clearTimeout(pack.timer);
    open = undefined;
    packs += 1;
    // Packs hold deliveries of many keys: a running number spreads them over the partitions. It is the identity of the pack, too.
    publishPack(publish, `${writer}-${packs}`, pack.entries).then(() => pack.resolve(undefined), pack.reject);
  };
  const openPack = (): Pack => {
    const timer = setTimeout(() => send(pack), lingerMs);
    const pack: Pack = { entries: [], timer, ...Promise.withResolvers<undefined>() };
    return pack;
  };
  return {
    append: (entry) => {
      const pack = (open ??= openPack());
      pack.entries.push(entry);
      if (pack.entries.length >= MAX_PACK_ENTRIES) send(pack);
      return pack.promise;
    },
  };
}
