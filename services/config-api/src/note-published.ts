import { repeat } from '@webhooks/runtime';
import type { Repetition } from '@webhooks/runtime';
import type { Configuration } from './configuration.js';

export interface PublicationNotes {
  readonly note: (configuration: Configuration) => void;
  /** Writes what is noted, once more, and ends. */
  readonly close: () => Promise<void>;
}

export interface NotesOptions extends Pick<Repetition, 'log'> {
  readonly markPublished: (configurations: readonly Configuration[]) => Promise<void>;
}

const EVERY_MS = 200;
/** A note beyond this is lost, which costs one more publication by the sweep. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 500;

/**
 * Writes down, a few times a second and together, which revisions Kafka has. Nobody waits for it: the note only spares the
 * sweep a publication.
 */
export function keepPublicationNotes({ markPublished, log }: NotesOptions): PublicationNotes {
  let waiting: Configuration[] = [];
  const flush = async (): Promise<void> => {
    const batch = waiting.slice(0, MAX_BATCH);
    if (batch.length === 0) return;
    await markPublished(batch);
    waiting = waiting.slice(batch.length);
  };
  const flushing = repeat({
    name: 'noting what Kafka has',
    everyMs: EVERY_MS,
    log,
    work: flush,
  });
  return {
    note: (configuration) => {
      if (waiting.length < MAX_WAITING) waiting.push(configuration);
    },
    close: async () => {
      await flushing.stop();
      await flush().catch(() => undefined);
    },
  };
}
