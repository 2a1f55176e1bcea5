import { appendFile, closeSync, openSync } from 'node:fs';

/** An append-only file: lines are written in order, batched while an earlier write is under way. */
export interface ArrivalFile {
  append(line: string): void;
  /** Resolves when every line is in the file. */
  close(): Promise<void>;
}

export function openArrivalFile(path: string): ArrivalFile {
  const descriptor = openSync(path, 'a');
  let waiting = '';
  let writing = false;
  let onIdle: (() => void) | undefined;
  const flush = (): void => {
    if (waiting === '') {
      writing = false;
      onIdle?.();
      return;
    }
    const batch = waiting;
    waiting = '';
    writing = true;
    appendFile(descriptor, batch, (error) => {
      if (error) throw error;
      flush();
    });
  };
  return {
    append(line) {
      waiting += line;
      if (!writing) flush();
    },
    async close() {
      if (writing) await new Promise<void>((resolve) => (onIdle = resolve));
      closeSync(descriptor);
    },
  };
}
