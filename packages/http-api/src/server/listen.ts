import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SettingsReader } from '@webhooks/runtime';

/** Time for a whole request, or a whole response: 1 MiB at 50 KiB a second. */
export const TRANSFER_MS = 20_000;

/** A connection without traffic is closed after this time. nginx closes it after 60 s, so nginx does so first. */
const IDLE_MS = 65_000;

/** How often Node checks the deadlines of headers and bodies. A deadline is exceeded by at most this time. */
const CHECK_MS = 1_000;
/**
 * Most requests of one connection without a response. All requests of one read are handled in one turn of the event
 * loop.
 */
const MAX_PIPELINED = 16;

/** How often a closing server closes the connections that have become idle. */
const IDLE_CHECK_MS = 50;

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    // A response whose header was already sent cannot close its connection, which becomes idle later.
    const polling = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(polling);
      resolve();
    });
  });
}

/** Parses a list such as `10.0.0.7,10.1.0.0/16,fd00::/8`. Throws for an entry that is neither address nor block. */
function parseBlocks(text: string): BlockList {
  const blocks = new BlockList();
  for (const block of text.split(',').flatMap((one) => one.trim() || [])) {
    // Digits only: `Number('')` is 0, so an extra slash would make every address a proxy.
    const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(block) ?? [];
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    blocks.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return blocks;
}

/** Default: a proxy that checks readiness every 5 s checks twice in this time. */
const SHUTDOWN_DELAY_MS = 10_000;
/** Upper bound of times, 16 minutes: a longer time is a mistake. */
const MAX_TIME_MS = 1_000_000;

/** Reads where a service listens, and which connections it takes. */
export function readListenSettings(settings: SettingsReader, port: number) {
  return {
    host: settings.text('HOST', '0.0.0.0'),
    port: settings.port('PORT', port),
    /** Most open connections. A further one is closed at once. */
    maxConnections: settings.integer('MAX_CONNECTIONS', 10_000, { min: 1 }),
    /** Most open connections of one address. A further one is closed at once. */
    maxConnectionsPerAddress: settings.integer('MAX_CONNECTIONS_PER_ADDRESS', 1_000, { min: 1 }),
    /** How long an idle connection waits for a next request, milliseconds. It closes up to 1 s later. */
    keepAliveMs: settings.integer('KEEP_ALIVE_MS', IDLE_MS, { min: 1, max: MAX_TIME_MS }),
    /**
     * How long a service that shuts down, and is not ready, still serves requests. Meanwhile proxies find another
     * one.
     */
    shutdownDelayMs: settings.integer('SHUTDOWN_DELAY_MS', SHUTDOWN_DELAY_MS, { max: MAX_TIME_MS }),
    /** Addresses without the limit per address, such as the operator's proxies. */
    proxies: settings.parsed('PROXY_CIDRS', '', parseBlocks) ?? new BlockList(),
  };
}
export type ListenSettings = ReturnType<typeof readListenSettings>;

/** Closes each new connection of an address that has `maxConnectionsPerAddress` open ones. */
function boundAddresses(server: Server, { maxConnectionsPerAddress, proxies }: ListenSettings): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    if (proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return;
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 0) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count > maxConnectionsPerAddress) socket.destroy();
  });
}

/** Bytes that the parser receives at a time: eighty of the smallest requests. One read returns up to 64 KiB. */
const PIECE_BYTES = 2_048;

/**
 * Feeds Node's parser in pieces, and stops when the connection has ended. Without it, Node parses all bytes of one read,
 * up to 2,600 requests, even if the first request ended the connection.
 */
function feedInPieces(socket: Socket): void {
  const push = socket.push.bind(socket);
  // With this listener the parser reads from the stream instead of the socket's handle.
  socket.on('data', () => undefined);
  socket.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) return push(chunk);
    let isHungry = true;
    for (let at = 0; at < chunk.length && !socket.destroyed; at += PIECE_BYTES)
      isHungry = push(chunk.subarray(at, at + PIECE_BYTES));
    return isHungry;
  };
}

/** The unfinished responses of each connection. */
class OpenResponses {
  readonly #byConnection = new Map<Duplex, Set<ServerResponse>>();
  #closing = false;

  /**
   * Returns whether to serve a request. Closes a connection with more than `MAX_PIPELINED` requests without a
   * response.
   */
  admit({ socket }: IncomingMessage, response: ServerResponse): boolean {
    if (socket.destroyed) return false;
    const open = this.#byConnection.get(socket) ?? new Set();
    this.#byConnection.set(socket, open.add(response));
    response.once('close', () => {
      open.delete(response);
      if (open.size === 0) this.#byConnection.delete(socket);
    });
    if (this.#closing) response.setHeader('connection', 'close');
    if (open.size > MAX_PIPELINED) socket.destroy();
    return open.size <= MAX_PIPELINED;
  }

  /** Whether the connection has a complete request without a response, or a response that has begun. */
  isResponding(socket: Duplex): boolean {
    return [...(this.#byConnection.get(socket) ?? [])].some(
      ({ req, headersSent }) => req.complete || headersSent,
    );
  }

  /** Adds `Connection: close` to every response that has not begun, now and from now on. */
  close(): void {
    this.#closing = true;
    for (const response of [...this.#byConnection.values()].flatMap((open) => [...open]))
      if (!response.headersSent) response.setHeader('connection', 'close');
  }
}

/** The statuses that Node itself sends for these faults. Any other fault is 400. */
const PARSER_FAULTS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Sends a status for a parser fault. Sends none while an earlier request waits for its response: the caller would take
 * the status for that response.
 */
const respondToParserFault =
  (open: OpenResponses) =>
  (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const status = PARSER_FAULTS[error.code ?? ''] ?? '400 Bad Request';
    if (socket.writable && !open.isResponding(socket))
      socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    socket.destroy(error);
  };

/** Serves HTTP with limits for header size (16 KiB, then 431), header time (10 s), request time and connections. */
export async function listen(listener: RequestListener, settings: ListenSettings) {
  const open = new OpenResponses();
  const serve: RequestListener = (request, response) => {
    if (open.admit(request, response)) listener(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: 16_384,
      headersTimeout: 10_000,
      requestTimeout: TRANSFER_MS,
      keepAliveTimeout: settings.keepAliveMs,
      connectionsCheckingInterval: CHECK_MS,
    },
    serve,
  );
  server.on('connection', feedInPieces);
  // Without this, Node sends 417 itself, outside the limits. An expectation may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', serve);
  server.on('clientError', respondToParserFault(open));
  server.setTimeout(IDLE_MS);
  server.maxConnections = settings.maxConnections;
  boundAddresses(server, settings);
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /**
     * Accepts no new connection, and lets requests in flight finish with `Connection: close`. Cuts the remaining ones
     * after `graceMs`.
     */
    close: (graceMs: number): Promise<void> => {
      open.close();
      return closeServer(server, graceMs);
    },
  };
}

export type HttpServer = Awaited<ReturnType<typeof listen>>;
