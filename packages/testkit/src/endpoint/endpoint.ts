import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import type { Arrival } from './arrival.js';
import { Receiver } from './receiver.js';
import type { EndpointOptions } from './receiver.js';
import { sharedAuthority } from './test-authority.js';

export interface Endpoint extends Pick<Receiver, 'stats' | 'answerWith' | 'forget'> {
  /** `https://localhost:<port>` without a path. */
  readonly origin: string;
  /** `https://localhost:<port>/hook`. */
  readonly url: string;
  readonly port: number;
  /** The authority to trust; empty for an endpoint with a certificate of the caller. */
  readonly caFile: string;
  /** The newest arrivals, oldest first. */
  readonly arrivals: readonly Arrival[];
  /** Breaks open connections and stops listening; resolves when the file is written. */
  close(): Promise<void>;
}

/** Starts a real HTTPS receiver for `localhost` that records what arrives and behaves as `answer` says, well or badly. */
export async function startEndpoint(options: EndpointOptions = {}): Promise<Endpoint> {
  const credentials = await findCredentials(options);
  const receiver = new Receiver(options);
  const web = createWebServer(options, credentials, receiver);
  const listener = createTcpServer((tcp) => receiver.admit(tcp, web));
  listener.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const origin = `${options.plain === true ? 'http' : 'https'}://localhost:${port}`;
  return {
    origin,
    url: `${origin}/hook`,
    port,
    caFile: credentials.caFile,
    arrivals: receiver.arrivals,
    stats: () => receiver.stats(),
    answerWith: (script) => receiver.answerWith(script),
    forget: () => receiver.forget(),
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      receiver.breakConnections();
      await closed;
      await receiver.finishFile();
    },
  };
}

interface Credentials {
  readonly cert?: string;
  readonly key?: string;
  readonly caFile: string;
}

async function findCredentials({ certPem, keyPem, plain }: EndpointOptions): Promise<Credentials> {
  if (plain === true) return { caFile: '' };
  if (certPem !== undefined && keyPem !== undefined) return { cert: certPem, key: keyPem, caFile: '' };
  const authority = await sharedAuthority();
  const issued = await authority.issue(['localhost', '127.0.0.1', '::1']);
  return { cert: issued.certPem, key: issued.keyPem, caFile: authority.caFile };
}

function createWebServer(options: EndpointOptions, { cert, key }: Credentials, receiver: Receiver): Server {
  const listener: RequestListener = (request, response) => receiver.receive(request, response);
  const manners = { keepAliveTimeout: options.keepAliveTimeoutMs ?? 5_000, maxHeaderSize: 65_536 };
  if (options.plain === true) return createHttpServer(manners, listener);
  const server = createHttpsServer({ ...manners, cert, key, ...options.tls }, listener);
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket) => receiver.noteSecured(socket.isSessionReused()));
  return server;
}
