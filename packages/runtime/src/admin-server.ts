import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Registry, Counter } from 'prom-client';
import type { HealthBoard, HealthReport } from './health.js';

/** Creates a counter with these labels. */
export const addCounter = <Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: Label[]
) => new Counter({ name, help, labelNames, registers: [registry] });

/** A further page of the admin server: its path, and the value that it returns as JSON. */
export interface AdminPage {
  readonly path: string;
  render(): unknown;
}

/** What runs: the version of the service, and the commit that its image was built from. */
export interface Build {
  readonly version: string;
  readonly commit: string;
}

function respond(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}

const respondJson = (response: ServerResponse, status: number, value: unknown): void =>
  respond(response, status, 'application/json', `${JSON.stringify(value)}\n`);

const respondHealth = (response: ServerResponse, { ok, faults }: HealthReport, build?: Build): void =>
  respondJson(response, ok ? 200 : 503, { status: ok ? 'ok' : 'failing', faults, ...build });

const pathOf = (request: IncomingMessage): string => request.url?.split('?')[0] ?? '/';

function respondPage(response: ServerResponse, path: string, pages: readonly AdminPage[]): void {
  const page = pages.find((candidate) => candidate.path === path);
  if (page) respondJson(response, 200, page.render());
  else
    respondJson(response, 404, {
      error: 'not found',
      pages: ['/livez', '/readyz', '/metrics', ...pages.map((p) => p.path)],
    });
}

/**
 * Serves `/livez`, `/readyz`, `/metrics` and further pages to operators, on a separate port that is not public.
 * `port` 0 takes a free port. Throws when the port is in use.
 */
export async function startAdminServer(options: {
  readonly port: number;
  readonly host: string;
  readonly build: Build;
  readonly health: HealthBoard;
  readonly registry: Registry;
  readonly pages: readonly AdminPage[];
}) {
  const { health, registry, pages, build } = options;
  const serve = async (path: string, response: ServerResponse): Promise<void> => {
    if (path === '/livez') respondHealth(response, health.isLive());
    else if (path === '/readyz') respondHealth(response, health.isReady(), build);
    else if (path === '/metrics') respond(response, 200, registry.contentType, await registry.metrics());
    else respondPage(response, path, pages);
  };
  const server = createServer({ requestTimeout: 5_000 }, (request, response) => {
    serve(pathOf(request), response).catch((error: unknown) => {
      respondJson(response, 500, { error: error instanceof Error ? error.message : 'failed' });
    });
  });
  await once(server.listen(options.port, options.host), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: (): Promise<void> => {
      server.closeAllConnections();
      return server[Symbol.asyncDispose]();
    },
  };
}
