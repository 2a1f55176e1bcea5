import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { monotonicMicros } from '../measure/clock.js';
import { RequestParser } from './request-parser.js';
import type { SeenRequest } from './request-parser.js';

export interface ReceivingPort {
  readonly port: number;
  shut(): Promise<void>;
  reopen(): Promise<void>;
}

/** Called for each request; answers through the socket, now or later. */
export type OnRequest = (request: SeenRequest, socket: TLSSocket) => void;

/** Many connections are opened at once when a run begins. */
const BACKLOG = 4_096;

/** Listens with TLS on a free port of the loopback interface; connections are kept alive for as long as the peer wants. */
export async function openReceivingPort(
  tls: { readonly cert: Buffer; readonly key: Buffer },
  onRequest: OnRequest,
): Promise<ReceivingPort> {
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...tls, ALPNProtocols: ['http/1.1'], noDelay: true }, (socket) => {
    const parser = new RequestParser();
    const answer = (request: SeenRequest): void => onRequest(request, socket);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      try {
        parser.push(chunk, monotonicMicros(), answer);
      } catch {
        socket.destroy();
      }
    });
  });
  server.on('tlsClientError', () => undefined);
  const listen = async (port: number): Promise<number> => {
    server.listen({ port, host: '127.0.0.1', backlog: BACKLOG });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  return {
    port,
    shut: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    reopen: async () => {
      await listen(port);
    },
  };
}
