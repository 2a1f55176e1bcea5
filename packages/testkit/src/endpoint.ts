import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Answer, Script } from './answer.js';
import type { Arrival } from './arrival.js';
import { Receiver } from './receiver.js';
import { sharedAuthority } from './test-authority.js';

/**
 * `reset` at once; `hang`: accepted, then silence; `end-in-handshake` and `reset-in-handshake`: broken off once the
 * first bytes of TLS are there; `drip-handshake`: a record of TLS is answered, one byte every 20 ms, without an end.
 */
export type ConnectionManners =
  'accept' | 'reset' | 'hang' | 'end-in-handshake' | 'reset-in-handshake' | 'drip-handshake';

export interface EndpointOptions {
  /** What to answer, default 200 at once. */
  readonly answer?: Script;
  /** Answers as soon as the request line is there, without reading the body (which is then not recorded). */
  readonly early?: Answer;
  /** What happens to a TCP connection before HTTP, default `accept`. */
  readonly connection?: ConnectionManners;
  /** Certificate and key for `localhost`; default: issued by an authority of this process. */
  readonly certPem?: string;
  readonly keyPem?: string;
  /** More of node:tls: `maxVersion`, `requestCert`, … */
  readonly tls?: TlsOptions;
  /** Speaks HTTP without TLS (to test that a sender refuses it). */
  readonly plain?: boolean;
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** How long an idle connection is kept, default 5,000 ms. */
  readonly keepAliveTimeoutMs?: number;
  /** Appends one NDJSON line (`ArrivalLine`) for each arrival before it is answered. */
  readonly file?: string;
  /** How many arrivals stay in memory (the newest), default 10,000. Counters count all. */
  readonly remember?: number;
}

export interface EndpointStats {
  /** TCP connections accepted so far, and those open now. */
  readonly connections: number;
  readonly openConnections: number;
  /** Connections that resumed a TLS session. */
  readonly resumed: number;
  /** Requests whose body was complete. */
  readonly arrivals: number;
  /** Different ids among them. */
  readonly distinctIds: number;
  /** Bytes written by endless answers. */
  readonly endlessBytes: number;
}

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
  const door = createTcpServer((tcp) => receiver.admit(tcp, web));
  door.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
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
      const closed = once(door, 'close');
      door.close();
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
