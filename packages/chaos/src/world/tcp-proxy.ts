import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';

/**
 * How the network between two programs is. `cut`: connections are reset, and new ones too. `half-open`: they stay, and
 * nothing comes through any more; what was sent into that is gone, so they are reset when it ends.
 */
export type LinkState = 'open' | 'cut' | 'half-open';

const HOST = '127.0.0.1';

/**
 * A port at 127.0.0.1 that leads to another one, through a network that can be spoiled. It holds one piece for each
 * direction of a connection, 64 KiB at most: who sends more has to wait.
 */
export class TcpProxy {
  readonly port: number;
  readonly #server = createServer({ allowHalfOpen: true }, (near) => this.#admit(near));
  readonly #sockets = new Set<Socket>();
  #target = 0;
  #state: LinkState = 'open';
  #changed = Promise.withResolvers<undefined>();

  private constructor(port: number) {
    this.port = port;
  }

  /** Listens on this port. Leads nowhere until `leadTo`. */
  static async open(port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(port);
    proxy.#server.listen(port, HOST);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  leadTo(port: number): void {
    this.#target = port;
  }

  /** From now on the network is like this. */
  become(state: LinkState): void {
    const wasHalfOpen = this.#state === 'half-open';
    this.#state = state;
    this.#changed.resolve(undefined);
    this.#changed = Promise.withResolvers();
    if (state === 'cut' || wasHalfOpen) this.#resetAll();
  }

  /** Connections from both sides that are open now. */
  get openSockets(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.become('cut');
    await closed;
  }

  #resetAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #admit(near: Socket): void {
    near.on('error', () => near.destroy());
    if (this.#state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    this.#hold(near);
    const far = connect({ host: HOST, port: this.#target, allowHalfOpen: true });
    far.on('error', () => far.destroy());
    this.#hold(far);
    const breakOff = (): void => {
      near.resetAndDestroy();
      far.resetAndDestroy();
    };
    this.#lead(near, far).catch(breakOff);
    this.#lead(far, near).catch(breakOff);
  }

  #lead(from: Socket, to: Socket): Promise<void> {
    return pipeline(from, (pieces: AsyncIterable<Buffer>) => this.#pass(pieces), to);
  }

  /** Lets pieces through while the network does. */
  async *#pass(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      while (this.#state === 'half-open') await this.#changed.promise;
      yield piece;
    }
  }
}
