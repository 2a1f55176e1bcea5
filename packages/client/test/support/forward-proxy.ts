import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A forward proxy, which alone knows the names: all that CONNECT names is `tlsPort`, all else `port`. `refuse` sends 407 to CONNECT, `isSilent` nothing. */
export async function startForwardProxy({ port, tlsPort }: Readonly<Record<'port' | 'tlsPort', number>>) {
  const seen: string[] = [];
  const state = { refuse: false, isSilent: false };
  const open = new Set<Socket>();
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const { method, url = '', headers } = request;
    seen.push(`${String(method)} ${url}`);
    const { pathname, search } = new URL(url);
    const path = pathname + search;
    const onward = send({ ...{ host: '127.0.0.1', port, method, path, headers } }, (came) => {
      response.writeHead(came.statusCode ?? 502, came.headers);
      came.pipe(response);
    });
    request.pipe(onward.on('error', () => response.destroy()));
  };
  const tunnel = (request: IncomingMessage, client: Socket): void => {
    seen.push(`CONNECT ${String(request.url)} ${String(request.headers['proxy-authorization'])}`);
    if (state.refuse) return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    if (state.isSilent) return void open.add(client);
    const server = connect(tlsPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      server.pipe(client).pipe(server);
    });
    for (const socket of [client, server]) open.add(socket.on('error', () => socket.destroy()));
  };
  const server = createServer(pass).on('connect', tunnel).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    seen,
    state,
    url: `http://user:pass@127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: (): void => {
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}
