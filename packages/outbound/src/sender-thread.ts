import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { ClientCertificate } from './guard/client-certificate.js';
import type { SendRequest, SendResult } from './pool/exchange.js';
import type { PlainOptions } from './sender-settings.js';

/** A request as it is sent to the thread. Its body is a copy whose ownership is transferred. */
interface ThreadPost extends Omit<SendRequest, 'mayStart' | 'body'> {
  readonly body: Uint8Array<ArrayBuffer>;
}
/** A message to the thread. */
export type ThreadMessage =
  { readonly id: number; readonly request: ThreadPost } | { readonly present: ClientCertificate };
/** A message from the thread. `fault`: why the post rejects. */
export type ThreadReply =
  { readonly id: number; readonly result: SendResult } | { readonly id: number; readonly fault: string };

/**
 * A post rejects this long after its timeout, milliseconds. A thread that replied nothing for this long is ended.
 * The costliest known handshake takes a tenth of it.
 */
const STALLED_MS = 5_000;
/** A thread whose heap exceeds these limits ends, without ending the process. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };
/** The built file. Tests use it too, although they run the source. */
const MAIN = createRequire(import.meta.url).resolve('@webhooks/outbound/sender-thread-main');

/**
 * A sender on its own thread, which the first post starts. When the thread ends, pending posts reject, and the next
 * post starts another thread.
 */
export class SenderThread {
  #options: PlainOptions;
  #worker: Worker | undefined;
  /** Settles when the thread that was ended last has exited. */
  #ending: Promise<unknown> | undefined;
  #posts = 0;
  /** When the thread started or last replied, by `performance.now()`. */
  #lastReplyAt = 0;
  readonly #pending = new Map<number, PromiseWithResolvers<SendResult>>();
  readonly #stalledMs: number;

  constructor(options: PlainOptions, stalledMs = STALLED_MS) {
    this.#options = options;
    this.#stalledMs = stalledMs;
  }

  /** Posts as `Sender.post` does, but calls `mayStart` at once. */
  async post({ mayStart, body, ...rest }: SendRequest, timeoutMs: number): Promise<SendResult> {
    if (mayStart?.() === false) return { kind: 'withdrawn', durationMs: 0 };
    this.#worker ??= this.#start();
    const id = (this.#posts += 1);
    const bytes = new Uint8Array(body);
    const message: ThreadMessage = { id, request: { ...rest, body: bytes, timeoutMs } };
    this.#worker.postMessage(message, [bytes.buffer]);
    const pending = Promise.withResolvers<SendResult>();
    this.#pending.set(id, pending);
    // `setImmediate`: a reply that arrived while this thread was busy is read first.
    const late = setTimeout(() => setImmediate(() => this.#rejectLate(id)), timeoutMs + this.#stalledMs);
    return pending.promise.finally(() => clearTimeout(late));
  }

  /** Ends a stalled thread. Otherwise only this post rejects. */
  #rejectLate(id: number): void {
    const error = new Error('the thread of costly tenants has stalled');
    if (performance.now() - this.#lastReplyAt > this.#stalledMs) return this.#end(error);
    this.#pending.get(id)?.reject(error);
    this.#pending.delete(id);
  }

  /** As `Sender.present`. */
  present(certificate: ClientCertificate): void {
    this.#options = { ...this.#options, clientCertificate: certificate };
    this.#worker?.postMessage({ present: certificate } satisfies ThreadMessage);
  }

  /** Ends the thread. Pending posts reject. */
  async close(): Promise<void> {
    this.#end(new Error('the thread of costly tenants was ended'));
    await this.#ending;
  }

  #start(): Worker {
    const worker = new Worker(MAIN, { workerData: this.#options, resourceLimits: HEAP_LIMITS });
    this.#lastReplyAt = performance.now();
    worker.on('message', (reply: ThreadReply) => {
      this.#lastReplyAt = performance.now();
      const pending = this.#pending.get(reply.id);
      this.#pending.delete(reply.id);
      if ('fault' in reply) pending?.reject(new Error(reply.fault));
      else pending?.resolve(reply.result);
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
    for (const pending of this.#pending.values()) pending.reject(error);
    this.#pending.clear();
  }
}
