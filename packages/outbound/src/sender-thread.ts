import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { ClientCertificate } from './client-certificate.js';
import type { SendRequest } from './send-request.js';
import type { SendResult } from './send-result.js';
import type { PlainOptions } from './sender-options.js';

/** The same body as a copy, which moves to the thread. */
export interface ThreadPost extends Omit<SendRequest, 'mayStart' | 'body'> {
  readonly body: Uint8Array<ArrayBuffer>;
}
/** To the thread. */
export type ThreadMessage =
  { readonly id: number; readonly request: ThreadPost } | { readonly present: ClientCertificate };
/** From the thread. `fault`: why the post rejects. */
export type ThreadReply =
  { readonly id: number; readonly result: SendResult } | { readonly id: number; readonly fault: string };

/** Beyond its time-out: a thread that computes for longer is ended. Ten times what the dearest handshake known takes. */
const HUNG_MS = 5_000;
/** A thread that grows beyond this, MiB, ends, and the process does not. */
const HEAP_MIB = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };
/** As built, also for tests, which run the source. */
const MAIN = createRequire(import.meta.url).resolve('@webhooks/outbound/sender-thread-main');

/**
 * A sender on a thread of its own, begun by its first post. When the thread ends, posts on their way reject; the next one begins another.
 */
export class SenderThread {
  #options: PlainOptions;
  #worker: Worker | undefined;
  /** The last end of a thread. */
  #ending: Promise<unknown> | undefined;
  #posts = 0;
  readonly #open = new Map<number, PromiseWithResolvers<SendResult>>();

  constructor(options: PlainOptions) {
    this.#options = options;
  }

  /** As `Sender.post`; `mayStart` is asked now. */
  async post({ mayStart, body, ...rest }: SendRequest, timeoutMs: number): Promise<SendResult> {
    if (mayStart?.() === false) return { kind: 'withdrawn', durationMs: 0 };
    this.#worker ??= this.#start();
    const id = (this.#posts += 1);
    const ended = Promise.withResolvers<SendResult>();
    this.#open.set(id, ended);
    const bytes = new Uint8Array(body);
    const message: ThreadMessage = { id, request: { ...rest, body: bytes, timeoutMs } };
    this.#worker.postMessage(message, [bytes.buffer]);
    const hung = setTimeout(
      () => this.#end(new Error('the thread of costly tenants hangs')),
      timeoutMs + HUNG_MS,
    );
    return ended.promise.finally(() => clearTimeout(hung));
  }

  present(certificate: ClientCertificate): void {
    this.#options = { ...this.#options, clientCertificate: certificate };
    this.#worker?.postMessage({ present: certificate } satisfies ThreadMessage);
  }

  /** Once no post is under way. */
  async close(): Promise<void> {
    this.#end(new Error('the thread of costly tenants was ended'));
    await this.#ending;
  }

  #start(): Worker {
    const worker = new Worker(MAIN, { workerData: this.#options, resourceLimits: HEAP_MIB });
    worker.on('message', (reply: ThreadReply) => {
      const ended = this.#open.get(reply.id);
      this.#open.delete(reply.id);
      if ('fault' in reply) ended?.reject(new Error(reply.fault));
      else ended?.resolve(reply.result);
    });
    const end = (error: Error): void => {
      if (worker === this.#worker) this.#end(error);
    };
    worker.on('error', (cause) => end(new Error('the thread of costly tenants failed', { cause })));
    worker.on('exit', () => end(new Error('the thread of costly tenants ended')));
    return worker;
  }

  #end(error: Error): void {
    this.#ending = this.#worker?.terminate() ?? this.#ending;
    this.#worker = undefined;
    for (const ended of this.#open.values()) ended.reject(error);
    this.#open.clear();
  }
}
