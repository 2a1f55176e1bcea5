import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Arrival } from './arrival.js';

/** What the endpoint does with one request. Everything but `status` is a misbehaviour that a sender must survive. */
export type Answer =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Record<string, string | string[]>;
      readonly body?: string | Buffer;
      readonly delayMs?: number;
    }
  /** Never answers; the connection stays open. */
  | { readonly kind: 'hang' }
  /** Headers at once, then one byte of body every `everyMs`, without an end. */
  | { readonly kind: 'drip-body'; readonly status?: number; readonly everyMs: number }
  /** The header block, one byte every `everyMs`, without an end. */
  | { readonly kind: 'drip-headers'; readonly everyMs: number }
  /** A body as fast as it is read, without an end. `bytesSent` of the endpoint's stats counts them. */
  | { readonly kind: 'endless-body' }
  /** Header lines as fast as they are read, without an end. */
  | { readonly kind: 'endless-headers' }
  /** `count` informational answers (default: without an end), then a 200. */
  | { readonly kind: 'informational'; readonly status?: number; readonly count?: number }
  /** Exactly these bytes on the connection, then nothing (`keep`), a FIN (`end`) or a RST (`reset`). */
  | { readonly kind: 'raw'; readonly bytes: string | Buffer; readonly then?: 'keep' | 'end' | 'reset' }
  /** Breaks the connection at a stage, by RST (default) or by FIN. */
  | { readonly kind: 'cut'; readonly stage: CutStage; readonly how?: 'reset' | 'end' };

export type CutStage = 'before-answer' | 'in-headers' | 'in-body';

/** A status alone is enough for an ordinary answer. The function gets the arrival and how often its id came (from 1). */
export type Script =
  number | Answer | ((arrival: Arrival, nthForThisId: number) => number | Answer | Promise<number | Answer>);

export function toAnswer(answer: number | Answer): Answer {
  return typeof answer === 'number' ? { kind: 'status', status: answer } : answer;
}

/** The status that an answer is going to show, 0 when there is no ordinary one. */
export function plannedStatus(answer: Answer): number {
  return answer.kind === 'status' ? answer.status : 0;
}

/** The three layers of one exchange: HTTP response, the (TLS) stream it is written to, the TCP socket under it. */
export interface Exchange {
  readonly response: ServerResponse;
  readonly stream: Socket;
  readonly tcp: Socket;
  /** Told about bytes of endless answers. */
  readonly onBytes: (count: number) => void;
}

const CHUNK = Buffer.alloc(16_384, 'x');
const HEADER_LINE = `x-filler: ${'y'.repeat(100)}\r\n`;

export function playAnswer(answer: Answer, exchange: Exchange): void {
  if (answer.kind === 'hang') return;
  if (answer.kind === 'status') return playStatus(answer, exchange);
  if (answer.kind === 'cut') return playCut(answer, exchange);
  if (answer.kind === 'drip-body' || answer.kind === 'drip-headers') return playDrip(answer, exchange);
  if (answer.kind !== 'raw') return playFlood(answer, exchange);
  exchange.stream.write(answer.bytes, () => breakOff(exchange, answer.then ?? 'keep'));
}

function playDrip(answer: Extract<Answer, { kind: `drip-${string}` }>, exchange: Exchange): void {
  const { response, stream } = exchange;
  if (answer.kind === 'drip-body') {
    response.writeHead(answer.status ?? 200).flushHeaders();
    return repeat(exchange, answer.everyMs, () => response.write('.'));
  }
  stream.write('HTTP/1.1 200 OK\r\nx-slow: ');
  repeat(exchange, answer.everyMs, () => stream.write('z'));
}

type Flood = Extract<Answer, { kind: `endless-${string}` | 'informational' }>;

function playFlood(answer: Flood, exchange: Exchange): void {
  const { response, stream } = exchange;
  if (answer.kind === 'informational') return playInformational(answer, exchange);
  if (answer.kind === 'endless-body')
    return pump(exchange, (done) => response.write(CHUNK, done), CHUNK.length);
  stream.write('HTTP/1.1 200 OK\r\n');
  pump(exchange, (done) => stream.write(HEADER_LINE, done), HEADER_LINE.length);
}

function playStatus(answer: Extract<Answer, { kind: 'status' }>, { response, stream }: Exchange): void {
  const send = (): void => {
    if (!stream.destroyed) response.writeHead(answer.status, answer.headers).end(answer.body);
  };
  if (answer.delayMs === undefined) send();
  else setTimeout(send, answer.delayMs).unref();
}

function playInformational(answer: Extract<Answer, { kind: 'informational' }>, exchange: Exchange): void {
  const line = `HTTP/1.1 ${answer.status ?? 103} Info\r\nx-info: 1\r\n\r\n`;
  if (answer.count === undefined) {
    return pump(exchange, (done) => exchange.stream.write(line, done), line.length);
  }
  exchange.stream.write(line.repeat(answer.count));
  exchange.stream.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
}

function playCut(answer: Extract<Answer, { kind: 'cut' }>, exchange: Exchange): void {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n';
  const sent = { 'before-answer': '', 'in-headers': head, 'in-body': `${head}\r\nonly a part` }[answer.stage];
  const finish = (): void => breakOff(exchange, answer.how ?? 'reset');
  if (sent === '') return finish();
  // A pause lets the first bytes arrive before the RST, which would otherwise overtake them.
  exchange.stream.write(sent, () => setTimeout(finish, 20));
}

function breakOff({ stream, tcp }: Exchange, how: 'keep' | 'end' | 'reset'): void {
  if (how === 'end') stream.end();
  if (how === 'reset') tcp.resetAndDestroy();
}

function repeat({ stream }: Exchange, everyMs: number, write: () => void): void {
  const timer = setInterval(write, everyMs);
  stream.once('close', () => clearInterval(timer));
}

/** Writes for ever, the next piece only when the last one left, so that the endpoint's memory stays flat. */
function pump(exchange: Exchange, write: (done: () => void) => void, bytes: number): void {
  const next = (): void => {
    exchange.onBytes(bytes);
    if (!exchange.stream.destroyed) setImmediate(() => write(next));
  };
  write(next);
}

/**
 * `reset` at once; `hang`: accepted, then silence; `end-in-handshake` and `reset-in-handshake`: broken off once the
 * first bytes of TLS are there; `drip-handshake`: a record of TLS is answered, one byte every 20 ms, without an end.
 */
export type ConnectionManners =
  'accept' | 'reset' | 'hang' | 'end-in-handshake' | 'reset-in-handshake' | 'drip-handshake';

/** The head of a TLS record of the handshake, 4,096 bytes long: what follows is waited for. */
const RECORD_HEAD = Buffer.from('1603031000', 'hex');

/** TCP connections on which TLS never comes about. */
export const SPOIL_HANDSHAKE: Readonly<
  Record<Exclude<ConnectionManners, 'accept'>, (tcp: Socket) => unknown>
> = {
  reset: (tcp) => tcp.resetAndDestroy(),
  hang: (tcp) => tcp.resume(),
  'end-in-handshake': (tcp) => tcp.once('data', () => tcp.end()),
  'reset-in-handshake': (tcp) => tcp.once('data', () => tcp.resetAndDestroy()),
  'drip-handshake': (tcp) => {
    tcp.resume().write(RECORD_HEAD);
    const timer = setInterval(() => tcp.write('x'), 20);
    tcp.once('close', () => clearInterval(timer));
  },
};
