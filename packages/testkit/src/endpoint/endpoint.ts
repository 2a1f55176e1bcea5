import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { Server, Socket, AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { plannedStatus, toReply, playReply, BREAK_HANDSHAKE } from './reply.js';
import type { Arrival, ArrivalLine, ConnectionBehaviour, Reply, Script } from './reply.js';
import { sharedAuthority } from './test-authority.js';

export interface EndpointOptions {
  /** What to reply, default 200 at once. */
  readonly reply?: Script;
  /** Replies once the headers are received, without reading the body. The request is then not recorded. */
  readonly early?: Reply;
  /** What happens to a new TCP connection, default `accept`. */
  readonly connection?: ConnectionBehaviour;
  /** Certificate and key for `localhost`; default: issued by the shared test authority. */
  readonly certPem?: string;
  readonly keyPem?: string;
  /** Further options of node:tls: `maxVersion`, `requestCert`, … */
  readonly tls?: TlsOptions;
  /** Speaks HTTP without TLS (to test that a sender refuses it). */
  readonly plain?: boolean;
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** How long an idle connection stays open, default 5,000 ms. */
  readonly keepAliveTimeoutMs?: number;
  /** Appends one NDJSON line (`ArrivalLine`) for each arrival before the endpoint replies. */
  readonly file?: string;
  /** How many arrivals stay in memory (the newest), default 10,000. Counters count all. */
  readonly remember?: number;
}

/** A real HTTPS receiver for `localhost`. It records requests, and replies as `reply` says, well or badly. */
export class Endpoint {
  /** The newest arrivals, oldest first. */
  readonly arrivals: Arrival[] = [];
  readonly port: number;
  /** `https://localhost:<port>` without a path. */
  readonly origin: string;
  /** `https://localhost:<port>/hook`. */
  readonly url: string;
  /** File of the authority to trust; empty when the caller passed the certificate, and for `plain`. */
  readonly caFile: string;
  readonly #options: EndpointOptions;
  readonly #listener: Server;
  readonly #file: WriteStream | undefined;
  /** Open TCP connections, by the port of the peer. */
  readonly #open = new Map<number, Socket>();
  readonly #countById = new Map<string, number>();
  /** TCP connections accepted, those that resumed a TLS session, requests with a complete body, bytes of endless responses. */
  readonly #counts = { connections: 0, resumed: 0, arrivals: 0, endlessBytes: 0 };
  #script: Script;

  constructor(options: EndpointOptions, listener: Server, { caFile, ...pair }: Credentials) {
    this.#options = options;
    this.#script = options.reply ?? 200;
    this.#file = options.file === undefined ? undefined : createWriteStream(options.file, { flags: 'a' });
    this.#listener = listener;
    const web = createWebServer(options, pair);
    web.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#receive(request, response),
    );
    web.on('secureConnection', (tls: TLSSocket) => (this.#counts.resumed += Number(tls.isSessionReused())));
    listener.on('connection', (tcp) => this.#admit(tcp, web));
    this.port = (listener.address() as AddressInfo).port;
    this.origin = `${options.plain === true ? 'http' : 'https'}://localhost:${this.port}`;
    this.url = `${this.origin}/hook`;
    this.caFile = caFile;
  }

  #admit(tcp: Socket, web: Server): void {
    this.#counts.connections += 1;
    const peer = tcp.remotePort ?? 0;
    this.#open.set(peer, tcp);
    tcp.on('error', () => undefined);
    tcp.once('close', () => this.#open.delete(peer));
    const { connection = 'accept' } = this.#options;
    if (connection === 'accept') web.emit('connection', tcp);
    else BREAK_HANDSHAKE[connection](tcp);
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const startedAt = clockMs();
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    // Bytes that nobody reads would reset the connection, perhaps before the reply arrives.
    if (this.#options.early !== undefined) return this.#play(this.#options.early, request.resume(), response);
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
    const { method = '', url: path = '', httpVersion } = request;
    const headers = flatHeaders(request);
    const id = headers['webhook-id'] ?? '';
    const nth = (this.#countById.get(id) ?? 0) + 1;
    if (id !== '') this.#countById.set(id, nth);
    this.#counts.arrivals += 1;
    const arrival: Arrival = {
      ...{ method, path, httpVersion, headers, body, id, nth, startedAt },
      index: this.#counts.arrivals,
      receivedAt: clockMs(),
    };
    this.arrivals.push(arrival);
    if (this.arrivals.length > (this.#options.remember ?? 10_000)) this.arrivals.shift();
    return arrival;
  }

  async #reply(arrival: Arrival, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const script = this.#script;
    const reply = toReply(typeof script === 'function' ? await script(arrival) : script);
    this.#file?.write(arrivalLine(arrival, plannedStatus(reply)));
    this.#play(reply, request, response);
  }

  #play(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
    const tcp = this.#open.get(request.socket.remotePort ?? 0) ?? request.socket;
    const onBytes = (count: number): void => void (this.#counts.endlessBytes += count);
    playReply(reply, { response, stream: request.socket, tcp, onBytes });
  }

  stats() {
    return {
      ...this.#counts,
      openConnections: this.#open.size,
      /** Different ids among the arrivals. */
      distinctIds: this.#countById.size,
    };
  }

  /** Replaces the reply to later requests. */
  replyWith(script: Script): void {
    this.#script = script;
  }

  /** Clears the recorded arrivals, their number and the counts of ids. Counts of connections stay. */
  forget(): void {
    this.arrivals.length = 0;
    this.#countById.clear();
    this.#counts.arrivals = 0;
  }

  /** Breaks open connections and stops listening; resolves when the file is written. */
  async close(): Promise<void> {
    const closed = this.#listener[Symbol.asyncDispose]();
    for (const tcp of this.#open.values()) tcp.destroy();
    await closed;
    if (this.#file) await finished(this.#file.end());
  }
}

/** Starts an endpoint, and resolves when it listens. Rejects when it cannot listen, for example on a port in use. */
export async function startEndpoint(options: EndpointOptions = {}): Promise<Endpoint> {
  const credentials = await findCredentials(options);
  const listener = createTcpServer().listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(listener, 'listening');
  return new Endpoint(options, listener, credentials);
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

function createWebServer(options: EndpointOptions, pair: Omit<Credentials, 'caFile'>): Server {
  const limits = { keepAliveTimeout: options.keepAliveTimeoutMs ?? 5_000, maxHeaderSize: 65_536 };
  if (options.plain === true) return createHttpServer(limits);
  const server = createHttpsServer({ ...limits, ...pair, ...options.tls });
  return server.on('tlsClientError', () => undefined);
}

const clockMs = (): number => performance.timeOrigin + performance.now();

function flatHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  const flat = Object.entries(headersDistinct).map(([name, value]) => [name, value?.join(', ') ?? '']);
  return Object.fromEntries(flat) as Record<string, string>;
}

function arrivalLine({ id, path, receivedAt, headers, body }: Arrival, status: number): string {
  const line: ArrivalLine = { id, path, receivedAt, status, headers, body: body.toString('utf8') };
  return `${JSON.stringify(line)}\n`;
}
