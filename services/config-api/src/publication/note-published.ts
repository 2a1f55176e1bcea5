import { repeat } from '@webhooks/runtime';
import type { Repetition } from '@webhooks/runtime';
import { PAGE } from '../store/configuration-store.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import type { Configuration } from '../webhooks/configuration.js';

const EVERY_MS = 200;
/** A note beyond this is lost, which costs one more publication by the sweep. */
const MAX_WAITING = 10_000;

/**
 * Writes down, a few times a second and together, which revisions Kafka has. Nobody waits for it: the note only spares the
 * sweep a publication.
 */
export function keepPublicationNotes({
  markPublished,
  log,
}: Pick<Repetition, 'log'> & Pick<ConfigurationStore, 'markPublished'>) {
  let waiting: Configuration[] = [];
  const flush = async (): Promise<void> => {
    const batch = waiting.slice(0, PAGE);
    if (batch.length === 0) return;
    await markPublished(batch);
    waiting = waiting.slice(batch.length);
  };
  const flushing = repeat({ name: 'noting what Kafka has', everyMs: EVERY_MS, log, work: flush });
  return {
    note: (configuration: Configuration): void => {
      if (waiting.length < MAX_WAITING) waiting.push(configuration);
    },
    /** Writes what is noted, once more, and ends. */
    close: async (): Promise<void> => {
      await flushing.stop();
      await flush().catch(() => undefined);
    },
  };
}
