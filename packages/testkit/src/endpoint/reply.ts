import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** One received request. `body` holds exactly the bytes that were received. */
export interface Arrival {
  /** Counts from 1 in the order in which the bodies were complete. */
  readonly index: number;
  readonly method: string;
  /** Path and query as in the request line. */
  readonly path: string;
  readonly httpVersion: string;
  /** Names in lower case; a repeated header is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Epoch milliseconds (with fraction) of the request line, and of the last byte of the body. */
  readonly startedAt: number;
  readonly receivedAt: number;
  /** `webhook-id`, else the empty string. */
  readonly id: string;
  /** How many arrivals carried this id so far, this one included (always 1 without an id). */
  readonly nth: number;
}

/** The line of the append-only file for one arrival. */
export interface ArrivalLine extends Pick<Arrival, 'id' | 'path' | 'receivedAt' | 'headers'> {
  /** The status that the endpoint is about to send; 0 for a misbehaviour, such as a hang or a cut connection. */
  readonly status: number;
  /** The body as UTF-8 text. */
  readonly body: string;
}

/** What the endpoint does with one request. Everything but `status` is a misbehaviour that a sender must survive. */
export type Reply =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Record<string, string | string[]>;
      readonly body?: string | Buffer;
      readonly delayMs?: number;
    }
  /** Never replies; the connection stays open. */
  | { readonly kind: 'hang' }
  /** Headers at once, then one byte of body every `everyMs`, without an end. */
  | { readonly kind: 'drip-body'; readonly status?: number; readonly everyMs: number }
  /** The header block, one byte every `everyMs`, without an end. */
  | { readonly kind: 'drip-headers'; readonly everyMs: number }
  /** A body as fast as it is read, without an end. `endlessBytes` of the endpoint's counts has its size. */
  | { readonly kind: 'endless-body' }
  /** Header lines as fast as they are read, without an end. */
  | { readonly kind: 'endless-headers' }
  /** `count` informational responses (default: without an end), then a 200. */
  | { readonly kind: 'informational'; readonly status?: number; readonly count?: number }
  /** Exactly these bytes on the connection, then nothing (`keep`), a FIN (`end`) or a RST (`reset`). */
  | { readonly kind: 'raw'; readonly bytes: string | Buffer; readonly then?: 'keep' | 'end' | 'reset' }
  /** Breaks the connection at a stage, by RST (default) or by FIN. */
  | { readonly kind: 'cut'; readonly stage: CutStage; readonly how?: 'reset' | 'end' };

export type CutStage = 'before-response' | 'in-headers' | 'in-body';

/** A status, a reply, or a function that returns one. */
export type Script = number | Reply | ((arrival: Arrival) => number | Reply | Promise<number | Reply>);

export function toReply(reply: number | Reply): Reply {
  return typeof reply === 'number' ? { kind: 'status', status: reply } : reply;
}

/** Returns the status of an ordinary response, and 0 for any misbehaviour. */
export function plannedStatus(reply: Reply): number {
  return reply.kind === 'status' ? reply.status : 0;
}

/** The three layers of one exchange: HTTP response, the (TLS) stream it is written to, the TCP socket under it. */
export interface Exchange {
  readonly response: ServerResponse;
  readonly stream: Socket;
  readonly tcp: Socket;
  /** Counts the bytes of endless responses. */
  readonly onBytes: (count: number) => void;
}

const CHUNK = Buffer.alloc(16_384, 'x');
const HEADER_LINE = `x-filler: ${'y'.repeat(100)}\r\n`;

export function playReply(reply: Reply, exchange: Exchange): void {
  if (reply.kind === 'hang') return;
  if (reply.kind === 'status') return playStatus(reply, exchange);
  if (reply.kind === 'cut') return playCut(reply, exchange);
  if (reply.kind === 'drip-body' || reply.kind === 'drip-headers') return playDrip(reply, exchange);
  if (reply.kind !== 'raw') return playFlood(reply, exchange);
  exchange.stream.write(reply.bytes, () => breakOff(exchange, reply.then ?? 'keep'));
}

function playDrip(reply: Extract<Reply, { kind: `drip-${string}` }>, exchange: Exchange): void {
  const { response, stream } = exchange;
  if (reply.kind === 'drip-body') {
    response.writeHead(reply.status ?? 200).flushHeaders();
    return repeat(exchange, reply.everyMs, () => response.write('.'));
  }
  stream.write('HTTP/1.1 200 OK\r\nx-slow: ');
  repeat(exchange, reply.everyMs, () => stream.write('z'));
}

type Flood = Extract<Reply, { kind: `endless-${string}` | 'informational' }>;

function playFlood(reply: Flood, exchange: Exchange): void {
  const { response, stream } = exchange;
  if (reply.kind === 'informational') return playInformational(reply, exchange);
  if (reply.kind === 'endless-body')
    return pump(exchange, (done) => response.write(CHUNK, done), CHUNK.length);
  stream.write('HTTP/1.1 200 OK\r\n');
  pump(exchange, (done) => stream.write(HEADER_LINE, done), HEADER_LINE.length);
}

function playStatus(reply: Extract<Reply, { kind: 'status' }>, { response, stream }: Exchange): void {
  const send = (): void => {
    if (!stream.destroyed) response.writeHead(reply.status, reply.headers).end(reply.body);
  };
  if (reply.delayMs === undefined) send();
  else setTimeout(send, reply.delayMs).unref();
}

function playInformational(reply: Extract<Reply, { kind: 'informational' }>, exchange: Exchange): void {
  const line = `HTTP/1.1 ${reply.status ?? 103} Info\r\nx-info: 1\r\n\r\n`;
  if (reply.count === undefined) {
    return pump(exchange, (done) => exchange.stream.write(line, done), line.length);
  }
  exchange.stream.write(line.repeat(reply.count));
  exchange.stream.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
}

function playCut(reply: Extract<Reply, { kind: 'cut' }>, exchange: Exchange): void {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n';
  const sent = { 'before-response': '', 'in-headers': head, 'in-body': `${head}\r\nonly a part` }[
    reply.stage
  ];
  const finish = (): void => breakOff(exchange, reply.how ?? 'reset');
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

/** Writes without end. Each piece is written after the last one was flushed, so the memory use of the endpoint stays flat. */
function pump(exchange: Exchange, write: (done: () => void) => void, bytes: number): void {
  const next = (): void => {
    exchange.onBytes(bytes);
    if (!exchange.stream.destroyed) setImmediate(() => write(next));
  };
  write(next);
}

/**
 * What the endpoint does with a new TCP connection. `reset`: resets it at once. `hang`: accepts it and sends nothing. `end-in-handshake`,
 * `reset-in-handshake`: closes it after the first bytes of TLS. `drip-handshake`: sends a TLS record, one byte every 20 ms, without an end.
 */
export type ConnectionBehaviour =
  'accept' | 'reset' | 'hang' | 'end-in-handshake' | 'reset-in-handshake' | 'drip-handshake';

/** Header of a TLS handshake record of 4,096 bytes. The peer waits for the rest of the record. */
const RECORD_HEAD = Buffer.from('1603031000', 'hex');

/** Breaks the TLS handshake of a TCP connection, by behaviour. */
export const BREAK_HANDSHAKE: Readonly<
  Record<Exclude<ConnectionBehaviour, 'accept'>, (tcp: Socket) => unknown>
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
