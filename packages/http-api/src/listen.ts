import { createServer } from 'node:http';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Node, Yallist } from 'yallist';

export interface HttpServer {
  readonly port: number;
  /**
   * Takes no new connection, lets requests in flight finish (their answers say `Connection: close`), and cuts what is
   * left after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

const MAX_CONNECTIONS = 10_000;

/** How often connections that became idle are looked for while the server closes. */
const IDLE_CHECK_MS = 50;

/**
 * The answers that are not finished, so that those in flight at the end can say `Connection: close`. In a list: a Set keeps
 * what it held until the next full collection, here most of each request.
 */
class OpenAnswers {
  private readonly answers = new Yallist<ServerResponse>();
  private closing = false;

  add(answer: ServerResponse): void {
    if (this.closing) answer.setHeader('connection', 'close');
    const place = new Node(answer);
    this.answers.pushNode(place);
    answer.once('close', () => this.answers.removeNode(place));
  }

  close(): void {
    this.closing = true;
    for (const answer of this.answers) if (!answer.headersSent) answer.setHeader('connection', 'close');
  }
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    // An answer whose header was sent before the end leaves its connection open, and idle only later.
    const look = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(look);
      resolve();
    });
  });
}

/** Serves HTTP with bounds on header size (16 KiB, then 431), header time, request time and connections. */
export async function listen(
  listener: RequestListener,
  options: { readonly port: number; readonly host: string },
): Promise<HttpServer> {
  const answers = new OpenAnswers();
  const server = createServer(
    { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 },
    (request, response) => {
      answers.add(response);
      listener(request, response);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: (graceMs) => {
      answers.close();
      return closeServer(server, graceMs);
    },
  };
}
