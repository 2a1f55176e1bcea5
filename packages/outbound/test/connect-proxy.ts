import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** What the proxy sends for a CONNECT: a tunnel, this text, or nothing. */
type TunnelReply = 'tunnel' | 'silence' | { readonly send: string };

export interface ProxyScript {
  /** Reply to CONNECT to this `address:port`; default: a tunnel. */
  readonly reply?: (authority: string) => TunnelReply;
  /** Whether it responds to other requests; default true. */
  readonly responds?: boolean;
}

/** An HTTP proxy on loopback that takes CONNECT and responds 501 to everything else. */
export async function startConnectProxy({ reply = () => 'tunnel', responds = true }: ProxyScript = {}) {
  const open = new Set<Socket>();
  /** The `address:port` of each CONNECT, and the whole head of each request. */
  const [asked, heads]: [string[], string[]] = [[], []];
  const keep = (socket: Socket): Socket => {
    open.add(socket.on('error', () => undefined).once('close', () => open.delete(socket)));
    return socket;
  };
  const tunnel = (client: Socket, authority: string): void => {
    const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(authority) ?? [];
    const server = keep(connect({ host, port: Number(port) }));
    server.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(server).pipe(client);
    });
    server.once('error', () => client.end('HTTP/1.1 503 Service Unavailable\r\n\r\n'));
    client.once('close', () => server.destroy());
  };
  const answer = (client: Socket, head: string): void => {
    heads.push(head);
    const authority = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head)?.[1];
    if (authority === undefined) {
      if (responds) client.end('HTTP/1.1 501 Not Implemented\r\n\r\n');
      return;
    }
    asked.push(authority);
    const what = reply(authority);
    if (what === 'tunnel') tunnel(client, authority);
    else if (what !== 'silence') client.end(what.send);
  };
  const server = createServer((client) => {
    let head = '';
    keep(client).on('data', function onData(chunk: Buffer) {
      head += chunk.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      client.off('data', onData);
      answer(client, head);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    asked,
    heads,
    openSockets: () => open.size,
    close: async () => {
      const closed = once(server.close(), 'close');
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
export type ConnectProxy = Awaited<ReturnType<typeof startConnectProxy>>;
