import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import type { Answer, Script } from './answer.js';
import { plannedStatus, toAnswer } from './answer.js';
import type { Arrival } from './arrival.js';
import { arrivalLine, clockMs, flatHeaders } from './arrival.js';
import type { EndpointOptions, EndpointStats } from './endpoint.js';
import { playAnswer } from './play-answer.js';
import { spoilHandshake } from './spoil-handshake.js';

/** The part of an endpoint behind the socket: records each request, then plays what the script says. */
export class Receiver {
  /** The newest arrivals, oldest first. */
  readonly arrivals: Arrival[] = [];
  readonly #options: EndpointOptions & { readonly remember: number };
  readonly #file: WriteStream | undefined;
  readonly #open = new Map<number, { readonly tcp: Socket; readonly number: number }>();
  readonly #countById = new Map<string, number>();
  #script: Script;
  readonly #counts = { connections: 0, resumed: 0, arrivals: 0, endlessBytes: 0 };

  constructor(options: EndpointOptions) {
    this.#options = { remember: 10_000, ...options };
    this.#script = options.answer ?? 200;
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
    else spoilHandshake(tcp, connection);
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
      this.#answer(arrival, request, response).catch((error: unknown) => {
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

  async #answer(arrival: Arrival, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const script = this.#script;
    const answer = toAnswer(typeof script === 'function' ? await script(arrival, arrival.nth) : script);
    this.#file?.write(arrivalLine(arrival, plannedStatus(answer)));
    this.#play(answer, request, response);
  }

  #play(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
    const tcp = this.#open.get(request.socket.remotePort ?? 0)?.tcp ?? request.socket;
    const onBytes = (count: number): void => void (this.#counts.endlessBytes += count);
    playAnswer(answer, { response, stream: request.socket, tcp, onBytes });
  }

  noteSecured(resumed: boolean): void {
    if (resumed) this.#counts.resumed += 1;
  }

  stats(): EndpointStats {
    return {
      ...this.#counts,
      openConnections: this.#open.size,
      distinctIds: this.#countById.size,
    };
  }

  /** Changes what is answered from now on. */
  answerWith(script: Script): void {
    this.#script = script;
  }

  /** Forgets arrivals and counts of ids, not connections. */
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
