import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Break the connection instead of responding. */
  readonly cut?: boolean;
}

interface Received {
  readonly line: string;
  readonly authorization: string;
  readonly contentType: string;
  readonly body: string;
}

export const WEBHOOK = {
  ref: 'r',
  eventType: 'PIX_OUT',
  endpointUrl: 'https://x.y',
  enabled: true,
  createdAt: '2026-11-21T14:03:27.512Z',
  updatedAt: '2026-11-21T14:03:27.512Z',
};
export const LIST = { data: [WEBHOOK], results: 1 };

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

/** A token endpoint and a service in one, which responds with what its script says, and after that a list. */
export class ScriptedService {
  readonly server: Server;
  readonly url: string;
  readonly requests: Received[] = [];
  script: ScriptedResponse[] = [];
  /** In place of a token. */
  tokenResponse: ScriptedResponse | undefined;

  private constructor(server: Server) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.respond(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async open(): Promise<ScriptedService> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ScriptedService(server);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private next(path: string | undefined): ScriptedResponse {
    if (path === '/token')
      return (
        this.tokenResponse ?? {
          status: 200,
          body: { access_token: `token-${this.requests.length}`, expires_in: 600 },
        }
      );
    return this.script.shift() ?? { status: 200, body: LIST };
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
    const { authorization = '', 'content-type': contentType = '' } = request.headers;
    const line = `${String(request.method)} ${String(request.url)}`;
    this.requests.push({ line, authorization, contentType, body });
    const next = this.next(request.url);
    if (next.cut === true) response.destroy();
    else
      response
        .writeHead(next.status, { 'content-type': 'application/json', ...next.headers })
        .end(textOf(next.body));
  }
}
