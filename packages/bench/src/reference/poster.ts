import { Client } from 'undici';
import type { Dispatcher } from 'undici';

/** One connection that posts again and again; calls back with the status, or 0 when there was none. */
export interface Poster {
  post(path: string, headers: string[], body: Buffer): Promise<number>;
  close(): Promise<void>;
}

/** undici's dispatch handler with nothing in it but the status. */
class StatusOnly implements Dispatcher.DispatchHandler {
  #status = 0;
  readonly #resolve: (status: number) => void;
  readonly #reject: (error: Error) => void;

  constructor(resolve: (status: number) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {
    // Required by undici; there is nothing to prepare.
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(): void {
    // The body is not used.
  }

  onResponseEnd(): void {
    this.#resolve(this.#status);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}

/**
 * undici's cheapest way: one Client for each connection (its Pool opens further ones) and its dispatch interface (its
 * `request` makes a stream for each answer). What the worker is held against should not be easy to reach.
 */
export function openDispatchPoster(origin: string, ca: Buffer): Poster {
  const client = new Client(origin, { connect: { ca }, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  return {
    post: (path, headers, body) =>
      new Promise((resolve, reject) => {
        client.dispatch({ method: 'POST', path, headers, body }, new StatusOnly(resolve, reject));
      }),
    close: () => client.close(),
  };
}

/** The usual way: an Agent and `request`, with an answer that is dumped. */
export function openRequestPoster(origin: string, ca: Buffer): Poster {
  const client = new Client(origin, { connect: { ca }, pipelining: 1 });
  return {
    post: async (path, headers, body) => {
      const answer = await client.request({ method: 'POST', path, headers, body });
      await answer.body.dump();
      return answer.statusCode;
    },
    close: () => client.close(),
  };
}
