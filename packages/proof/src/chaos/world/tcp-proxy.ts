import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';

/**
 * State of the network between two programs. `cut`: open and new connections are reset. `half-open`: connections stay, and no bytes
 * come through. Bytes sent meanwhile are lost, so the connections are reset when the state ends.
 */
export type LinkState = 'open' | 'cut' | 'half-open';

const HOST = '127.0.0.1';

/**
 * Opens a proxy at a port of 127.0.0.1, whose network can be broken. It forwards to the port set by `forwardTo`, and to none before. It holds
 * at most 64 KiB for each direction of a connection; then the sender has to wait.
 */
export async function openTcpProxy(port: number) {
  const sockets = new Set<Socket>();
  let [target, state] = [0, 'open' as LinkState];
  let changed = Promise.withResolvers<undefined>();
  const become = (next: LinkState): void => {
    if (next === 'cut' || state === 'half-open') for (const socket of sockets) socket.resetAndDestroy();
    state = next;
    changed.resolve(undefined);
    changed = Promise.withResolvers();
  };
  /** Forwards data while the network is not half-open. */
  async function* pass(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      while (state === 'half-open') await changed.promise;
      yield piece;
    }
  }
  const lead = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true).once('close', () => sockets.delete(from));
    from.on('error', () => from.destroy());
    pipeline(from, pass, to).catch(() => {
      from.resetAndDestroy();
      to.resetAndDestroy();
    });
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: HOST, port: target, allowHalfOpen: true });
    lead(near, far);
    lead(far, near);
  });
  server.listen(port, HOST);
  await once(server, 'listening');
  return {
    port,
    forwardTo: (other: number) => void (target = other),
    /** Sets the state of the network. */
    become,
    /** Number of open connections, of both sides. */
    openSockets: () => sockets.size,
    close: async () => {
      const closed = server[Symbol.asyncDispose]();
      become('cut');
      await closed;
    },
  };
}
export type TcpProxy = Awaited<ReturnType<typeof openTcpProxy>>;
