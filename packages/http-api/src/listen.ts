import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpServer {
  readonly port: number;
  /**
   * Takes no new connection, lets requests in flight finish (their answers say `Connection: close`), and cuts what is
   * left after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

const MAX_CONNECTIONS = 10_000;

/** Serves HTTP with bounds on header size (16 KiB, then 431), header time, request time and connections. */
export async function listen(
  listener: RequestListener,
  options: { readonly port: number; readonly host: string },
): Promise<HttpServer> {
  let closing = false;
  const server = createServer(
    { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 },
    (request, response) => {
      if (closing) response.setHeader('connection', 'close');
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
    close: (graceMs) =>
      new Promise((resolve) => {
        closing = true;
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
