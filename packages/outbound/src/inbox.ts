import type { OnReadOpts, Socket } from 'node:net';

/** As much as Node decrypts at once, and a record of TLS holds. */
const SHARED = Buffer.allocUnsafeSlow(16_384);

/** Answers are mostly of one size: one view serves them, instead of an object for each. */
let view = SHARED;

function viewOf(length: number): Buffer {
  if (view.length !== length) view = SHARED.subarray(0, length);
  return view;
}

/**
 * What one socket reads. All sockets read into the same 16 KiB, because Node hands bytes over before it reads on, and else
 * takes memory from the allocator for each read, which V8 tracks, moves and frees again.
 */
export class Inbox {
  /** Of the socket that reads into it. */
  readonly onread: OnReadOpts = {
    buffer: SHARED,
    callback: (length) => {
      this.#take(viewOf(length));
      return true;
    },
  };
  #read: ((bytes: Buffer) => void) | undefined = undefined;
  #isEarly = false;

  /** `read` is given what comes from now on, and must keep none of it; `onEarly` is called soon if something had come before. */
  open(read: (bytes: Buffer) => void, onEarly: () => void): void {
    this.#read = read;
    if (this.#isEarly) queueMicrotask(onEarly);
  }

  #take(bytes: Buffer): void {
    if (this.#read === undefined) this.#isEarly = true;
    else this.#read(bytes);
  }
}

/** A socket that stands, and what it reads into. */
export interface OpenSocket {
  readonly socket: Socket;
  readonly inbox: Inbox;
}
