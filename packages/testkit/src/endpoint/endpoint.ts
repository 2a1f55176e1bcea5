import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse, RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { Server, Socket, AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import type { TlsOptions } from 'node:tls';
import { plannedStatus, toReply, playReply, SPOIL_HANDSHAKE } from './reply.js';
import type { Reply, Script, ConnectionManners } from './reply.js';
import { arrivalLine, clockMs, flatHeaders } from './arrival.js';
import type { Arrival } from './arrival.js';
import { sharedAuthority } from './test-authority.js';

export interface EndpointOptions {
  /** What to reply, default 200 at once. */
  readonly reply?: Script;
  /** Answers as soon as the request line is there, without reading the body (which is then not recorded). */
  readonly early?: Reply;
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
  /** Appends one NDJSON line (`ArrivalLine`) for each arrival before the endpoint replies. */
  readonly file?: string;
  /** How many arrivals stay in memory (the newest), default 10,000. Counters count all. */
  readonly remember?: number;
}

/** The part of an endpoint behind the socket: records each request, then plays what the script says. */
class Receiver {
  /** The newest arrivals, oldest first. */
  readonly arrivals: Arrival[] = [];
  readonly #options: EndpointOptions & { readonly remember: number };
  readonly #file: WriteStream | undefined;
  readonly #open = new Map<number, { readonly tcp: Socket; readonly number: number }>();
  readonly #countById = new Map<string, number>();
  #script: Script;
  /** TCP connections accepted, those that resumed a TLS session, requests with a complete body, bytes of endless responses. */
  readonly #counts = { connections: 0, resumed: 0, arrivals: 0, endlessBytes: 0 };

  constructor(options: EndpointOptions) {
    this.#options = { remember: 10_000, ...options };
    this.#script = options.reply ?? 200;
    this.#file = options.file === undefined ? undefined : createWriteStream(options.file, { flags: 'a' });
  }

  admit(tcp: Socket, web: Server): void {
    this.#counts.connections += 1;
    const peer = tcp.remotePort ?? 0;
    this.#open.set(peer, { tcp, number: this.#counts.connections });
    tcp.on('error', () => undefined);
    tcp.once('close', () => this.#open.delete(peer));
    const { connection = 'accept' } = this.#options;
    if (connection === 'accept') web.emit('connection', tcp);
    else SPOIL_HANDSHAKE[connection](tcp);
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    const startedAt = clockMs();
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    if (this.#options.early !== undefined) return this.#play(this.#options.early, request, response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const arrival = this.#record(request, Buffer.concat(chunks), startedAt);
      this.#reply(arrival, request, response).catch((error: unknown) => {
        response.writeHead(500).end(`the script of this endpoint failed: ${String(error)}`);
      });
    });
  }

  #record(request: IncomingMessage, body: Buffer, startedAt: number): Arrival {
    const { method = '', url = '', httpVersion } = request;
    const headers = flatHeaders(request);
    const id = headers['webhook-id'] ?? '';
    this.#counts.arrivals += 1;
    const arrival: Arrival = {
      index: this.#counts.arrivals,
      method,
      path: url,
      httpVersion,
      headers,
      body,
      startedAt,
      receivedAt: clockMs(),
      connection: this.#open.get(request.socket.remotePort ?? 0)?.number ?? 0,
      id,
      nth: this.#count(id),
    };
    this.arrivals.push(arrival);
    if (this.arrivals.length > this.#options.remember) this.arrivals.shift();
    return arrival;
  }

  #count(id: string): number {
    if (id === '') return 1;
    const nth = (this.#countById.get(id) ?? 0) + 1;
    this.#countById.set(id, nth);
    return nth;
  }

  async #reply(arrival: Arrival, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const script = this.#script;
    const reply = toReply(typeof script === 'function' ? await script(arrival, arrival.nth) : script);
    this.#file?.write(arrivalLine(arrival, plannedStatus(reply)));
    this.#play(reply, request, response);
  }

  #play(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
    const tcp = this.#open.get(request.socket.remotePort ?? 0)?.tcp ?? request.socket;
    const onBytes = (count: number): void => void (this.#counts.endlessBytes += count);
    playReply(reply, { response, stream: request.socket, tcp, onBytes });
  }

  noteSecured(resumed: boolean): void {
    if (resumed) this.#counts.resumed += 1;
  }

  stats() {
    return {
      ...this.#counts,
      openConnections: this.#open.size,
      /** Different ids among the arrivals. */
      distinctIds: this.#countById.size,
    };
  }

  replyWith(script: Script): void {
    this.#script = script;
  }

  forget(): void {
    this.arrivals.length = 0;
    this.#countById.clear();
    this.#counts.arrivals = 0;
  }

  breakConnections(): void {
    for (const { tcp } of this.#open.values()) tcp.destroy();
  }

  async finishFile(): Promise<void> {
    if (this.#file) await finished(this.#file.end());
  }
}

/** Starts a real HTTPS receiver for `localhost` that records what arrives and behaves as `reply` says, well or badly. */
export async function startEndpoint(options: EndpointOptions = {}) {
  const credentials = await findCredentials(options);
  const receiver = new Receiver(options);
  const web = createWebServer(options, credentials, receiver);
  const listener = createTcpServer((tcp) => receiver.admit(tcp, web));
  listener.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const origin = `${options.plain === true ? 'http' : 'https'}://localhost:${port}`;
  return {
    /** `https://localhost:<port>` without a path. */
    origin,
    /** `https://localhost:<port>/hook`. */
    url: `${origin}/hook`,
    port,
    /** The authority to trust; empty for an endpoint with a certificate of the caller. */
    caFile: credentials.caFile,
    /** The newest arrivals, oldest first. */
    arrivals: receiver.arrivals as readonly Arrival[],
    stats: () => receiver.stats(),
    /** Changes what it replies from now on. */
    replyWith: (script: Script) => receiver.replyWith(script),
    /** Forgets arrivals and counts of ids, not connections. */
    forget: () => receiver.forget(),
    /** Breaks open connections and stops listening; resolves when the file is written. */
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      receiver.breakConnections();
      await closed;
      await receiver.finishFile();
    },
  };
}

export type Endpoint = Awaited<ReturnType<typeof startEndpoint>>;

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
