import { appendFile, closeSync, openSync } from 'node:fs';

/** One arrival at a receiver, written when it was answered (or its connection closed before that). */
export interface Receipt {
  readonly id: string;
  readonly path: string;
  /** Status that was answered; 0: none. */
  readonly status: number;
  /** First byte of the request, monotonic microseconds. */
  readonly firstByteAt: number;
}

/** Receipts are written together after this time: one write for some hundred arrivals instead of one for each. */
const BATCH_MS = 20;

const toLine = ({ id, path, status, firstByteAt }: Receipt): string =>
  `${id} ${path} ${status} ${firstByteAt.toFixed(0)}\n`;

/** Reads one line back; throws when it is no receipt. */
export function parseReceipt(line: string): Receipt {
  const [id, path, status, firstByteAt, ...rest] = line.split(' ');
  if (id === undefined || path === undefined || firstByteAt === undefined || rest.length > 0)
    throw new Error('a line of the receiver is no receipt');
  return { id, path, status: Number(status), firstByteAt: Number(firstByteAt) };
}

export interface ReceiptWriter {
  append(receipt: Receipt): void;
  /** Resolves when everything appended so far is in the file. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Appends receipts to a file, in batches. A receiver never fails an arrival for its file: a write fault throws. */
export function openReceiptWriter(file: string): ReceiptWriter {
  const descriptor = openSync(file, 'a');
  let waiting = '';
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    timer = undefined;
    const batch = waiting;
    waiting = '';
    writing = writing.then(() => append(descriptor, batch));
  };
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    write();
    await writing;
  };
  return {
    append(receipt) {
      waiting += toLine(receipt);
      timer ??= setTimeout(write, BATCH_MS);
    },
    flush,
    async close() {
      await flush();
      closeSync(descriptor);
    },
  };
}

function append(descriptor: number, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    appendFile(descriptor, text, (error) => (error ? reject(error) : resolve()));
  });
}
